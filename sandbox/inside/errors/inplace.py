"""Explains errors about tensors changed in place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch

from ..core.emitter import Emitter
from ..core.engine import Call, Observer
from ..core.frames import Json
from ..core.graph import Node, op_name, saved_names, says_changed, storage_of
from ..core.holders import ReferrerSearch
from ..core.operands import Instruction, operands
from ..core.parameters import ParameterRegistry, version_of
from ..core.stamps import Stamps
from ..recorders.inplace_changes import ChangeLog
from . import failure

_VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")
_SHARED = "more than one element of the written-to tensor"
_SHAPE = re.compile(r"\[[\w.]*Tensor \[([\d, ]*)\]\]")


class InplaceWatch(Observer):
    """Finds the stale tensor that fails a backward; with a log, the lines that changed it."""

    def __init__(
        self, emitter: Emitter, stamps: Stamps, parameters: ParameterRegistry, log: ChangeLog | None
    ) -> None:
        self._emitter = emitter
        self._stamps = stamps
        self._parameters = parameters
        self._log = log
        self._reported = False

    def failed(self, call: Call, error: Exception) -> None:
        """Tell the first backward that found a saved tensor changed."""
        if says_changed(error) and not self._reported:
            self._reported = True
            record: Json = {
                "t": "inplace",
                "message": str(error),
                "kind": "saved",
                "reached": call.record(),
            }
            found_stale = _stale(call.walk.nodes, call.frame)
            stale = max(found_stale, key=lambda s: s[0]._sequence_nr(), default=None)
            if stale is not None:
                record |= self._about(call, *stale, error)
            self._emitter.emit(record)

    def _about(
        self, call: Call, node: Node, data: torch.Tensor | None, error: BaseException
    ) -> Json:
        stamp = self._stamps.of(node)
        found, expected = _versions(error)
        shape = [int(n) for n in data.shape] if data is not None else _shape(error) or []
        storage = storage_of(data) if data is not None else None
        if storage is None and self._log is not None:
            storage = self._log.last_like(shape, found)
        search = ReferrerSearch(
            lambda t: storage_of(t) == storage, budget=20_000, depth=5, deep=True, leaves=True
        )
        named = search.around(call.frame) if storage is not None else []
        holders = [name.record("now") for name, _ in named]
        changes: list[Json] = []
        if self._log is not None and storage is not None:
            changes, names = self._log.of(storage, expected)
            holders = [*names, *(h for h in holders if h not in names)]
        owner = next((k for k in self._parameters.known if _is_at(k.tensor(), storage)), None)
        return {
            "node": {
                "op": op_name(node),
                "at": stamp.at if stamp else None,
                "library": stamp.library if stamp else None,
                "made_after": stamp.after if stamp else 0,
            },
            "holders": holders[:32],
            "parameter": owner.name or None if owner is not None else None,
            "is_parameter": owner is not None,
            "changes": changes,
        }

    def explain(self, error: BaseException) -> bool:
        """Tell an operation that autograd refused at once; false if the error is another."""
        text = str(error)
        if "leaf Variable" in text and "in-place" in text:
            kind = "leaf"
        elif ("view" in text and "modified inplace" in text) or _SHARED in text:
            kind = "view"
        else:
            return False
        places = failure.user_entries(error)
        if not isinstance(error, RuntimeError) or self._reported or not places:
            return False
        self._reported = True
        held = [
            (name, value)
            for name, value in operands(Instruction.of_entry(places[-1]))
            if isinstance(value, torch.Tensor)
            and (value._is_view() if kind == "view" else value.requires_grad and value.is_leaf)
        ]
        tensor = held[0][1] if held else None
        whole = tensor._base if tensor is not None and kind == "view" else tensor
        known = self._parameters.find(whole) if whole is not None else None
        owned = known is not None or isinstance(whole, torch.nn.Parameter)
        self._emitter.emit(
            {
                "t": "inplace",
                "message": text,
                "kind": kind,
                "at": failure.place_of(places[-1]),
                "holders": [name.record("now") for name, _ in held][:32],
                "parameter": known.name or None if known is not None else None,
                "is_parameter": owned,
            }
        )
        return True


def _is_at(tensor: torch.Tensor | None, storage: int | None) -> bool:
    return tensor is not None and storage is not None and storage_of(tensor) == storage


def _versions(error: BaseException) -> tuple[int, int]:
    """Return the version found and the version expected, from the message."""
    found = _VERSIONS.search(str(error))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _stale(
    nodes: list[Node], frame: FrameType | None
) -> Iterator[tuple[Node, torch.Tensor | None]]:
    """Yield the nodes whose saved tensors were changed, with the tensor as it is now.

    For a torch that does not show what was saved (2.3), yield a named tensor that the message fits,
    or None.
    """
    for node in nodes:
        for name in saved_names(node):
            saved: list[Any] = []
            try:
                raw = getattr(node, "_raw_" + name.removeprefix("_"))
                saved = list(raw) if isinstance(raw, list | tuple) else [raw]
                if not any(getattr(one, "unpack_hook", None) for one in saved):
                    getattr(node, name)  # the script's own hooks would run
            except RuntimeError as complaint:
                if "inplace" in str(complaint):
                    shown = [one.data for one in saved if hasattr(one, "data")]
                    alike = [t for t in shown if _matches(t, complaint)]
                    if not shown:
                        alike = [*_named(complaint, frame), None]
                    yield from ((node, data) for data in alike[:1])


def _named(complaint: BaseException, frame: FrameType | None) -> list[Any]:
    """Return the tensors of names that the message fits."""
    search = ReferrerSearch(lambda t: _matches(t, complaint), budget=20_000, depth=5, deep=True)
    return [tensor for _, tensor in search.around(frame)]


def _matches(data: Any, complaint: BaseException) -> bool:
    """Return True if this is the tensor that the message is about."""
    if not isinstance(data, torch.Tensor):
        return False
    return (
        _shape(complaint) in (None, [*data.shape]) and version_of(data) == _versions(complaint)[0]
    )


def _shape(error: BaseException) -> list[int] | None:
    """Return the tensor's shape, from the message."""
    found = _SHAPE.search(str(error))
    return [int(n) for n in re.findall(r"\d+", found[1])] if found is not None else None
