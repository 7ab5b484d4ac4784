"""Finds lines of the script that read a gradient and only ever find None, of parameters that do get
one at another time."""

from __future__ import annotations

import sys
import weakref
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

from ..core.frames import OWNERS, USER, Json, place
from ..core.parameters import KnownParameter, ParameterRegistry
from .details import AFTER_CLEARING, BEFORE_BACKWARD

LINES = 256  # that are followed
AGAIN = 2  # reads that tell, where not all of them were seen
READS = 64  # of a line that are looked at
MOST = 8  # findings
_tensor: Any = torch.Tensor


@dataclass(slots=True)
class _Line:
    """What the reads of one line found."""

    at: Json
    parameter: KnownParameter | None = None
    before: bool = False  # no backward had given the parameter a gradient, at the first read
    reads: int = 0
    full: int = 0


class _Gradient(property):
    """A property that modes of torch, to which it is handed, know by its name like torch's own."""

    __name__ = "grad"


class GradientReads:
    """Takes the place of the attribute `grad`, and notes by line what reads of it find."""

    def __init__(self, parameters: ParameterRegistry) -> None:
        self._parameters = parameters
        self._lines: dict[tuple[str, int], _Line] = {}
        self._rested = False
        self._leaves: dict[tuple[str, int], weakref.ref[torch.Tensor]] = {}

    def install(self) -> None:
        """Replace torch's own attribute, for the script's own frames."""
        own = _tensor.grad
        read, write, delete = own.__get__, own.__set__, own.__delete__
        note, owners, frame_of = self._note, OWNERS, sys._getframe

        def get(tensor: torch.Tensor) -> torch.Tensor | None:
            value: torch.Tensor | None = read(tensor)
            frame = frame_of(1)
            if owners[frame.f_code.co_filename] is USER:
                note(tensor, value, frame)
            return value

        _tensor.grad = _Gradient(get, write, delete)

    def rest(self) -> None:
        """Give torch its own attribute back: reads that follow are not looked at."""
        if isinstance(vars(_tensor).get("grad"), property):
            del _tensor.grad
            self._rested = True

    def _note(self, tensor: torch.Tensor, value: torch.Tensor | None, frame: FrameType) -> None:
        key = frame.f_code.co_filename, frame.f_lineno or 0
        line = self._lines.get(key)
        if line is None:
            if value is not None or len(self._lines) >= LINES or not _is_leaf(tensor):
                return
            known = self._parameters.find(tensor)
            line = self._lines[key] = _Line(place(frame), known, not known or not known.receipts)
            if known is None:
                self._leaves[key] = weakref.ref(tensor)
        if line.reads < READS:
            line.reads += 1
            line.full += value is not None

    def found(self) -> list[Json]:
        """Return the lines that never read a gradient, each with the parameter that gets one."""
        found = list[Json]()
        for key, line in self._lines.items():
            known = line.parameter
            leaf = self._leaves[key]() if known is None and key in self._leaves else None
            known = self._parameters.find(leaf) if leaf is not None else known
            if line.full or known is None or not known.receipts or not known.name:
                continue
            if self._rested and line.reads < AGAIN:
                continue
            detail = BEFORE_BACKWARD if line.before else AFTER_CLEARING
            found.append({"at": line.at, "params": [known.name], "detail": detail})
        return found[:MOST]


def _is_leaf(tensor: torch.Tensor) -> bool:
    """Return True for a leaf, without asking a mode of the script's."""
    with torch._C.DisableTorchFunction():
        return tensor.is_leaf
