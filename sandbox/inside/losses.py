"""A log of where tensors lost their graph, by line; for the slower second run."""

from __future__ import annotations

import sys
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from . import frames
from .frames import Json

_torch: Any = torch
KEPT = 50_000
_FACTORIES = ("tensor", "as_tensor", "asarray", "from_numpy", "FloatTensor")


@dataclass(frozen=True)
class Ended:
    """Where a graph ended, and by what: `how` is a call's name, `data`, or `no_grad`."""

    at: Json | None
    how: str
    op: str
    stack: tuple[Json, ...] = ()  # outermost first, where recording was off: somewhere on the way


class LossLog(TorchFunctionMode):
    """Follows values that came from a graph and have none, through every call of torch.

    Numbers and arrays that left torch (`.item()`, `.numpy()`) are followed by value, so that a
    tensor made of them again still tells where its graph ended.
    """

    def __init__(self) -> None:
        super().__init__()
        self._tensors: OrderedDict[int, tuple[weakref.ref[torch.Tensor], Ended]] = OrderedDict()
        self._values: OrderedDict[object, Ended] = OrderedDict()

    def install(self) -> None:
        """Also hear `torch.from_numpy`, which passes by the modes of torch."""
        from_numpy = torch.from_numpy

        def heard(array: Any) -> torch.Tensor:
            made = from_numpy(array)
            self._follow(from_numpy, (array,), made)
            return made

        _torch.from_numpy = heard

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        self._follow(func, (*args, *kwargs.values()), result)
        return result

    def of(self, tensor: torch.Tensor) -> Ended | None:
        """Where the tensor's graph ended, if that was seen."""
        known = self._tensors.get(id(tensor))
        return known[1] if known is not None and known[0]() is tensor else None

    def of_value(self, value: object) -> Ended | None:
        """Where the graph behind a number or an array ended."""
        known = (self._values[key] for key in _values(value) if key in self._values)
        return next(known, None)

    def _follow(self, func: Any, arguments: tuple[Any, ...], result: Any) -> None:
        outputs = list(_tensors(result))
        if any(tensor.requires_grad for tensor in outputs):
            return
        name = call_name(func)
        if not outputs and name not in ("item", "tolist", "numpy", "__array__", "__float__"):
            return
        ended = self._ended(name, arguments)
        if ended is None:
            return
        for tensor in outputs:
            self._tensors[id(tensor)] = (weakref.ref(tensor), ended)
        if not outputs:
            for value in _values(result):
                self._values[value] = ended
        for log in (self._tensors, self._values):
            while len(log) > KEPT:
                log.popitem(last=False)

    def _ended(self, name: str, arguments: tuple[Any, ...]) -> Ended | None:
        """Where the graph of a graph-less result ended: here, or before its inputs were made."""
        inputs = list(_tensors(arguments))
        if any(tensor.requires_grad for tensor in inputs):
            frame = frames.user_frame(sys._getframe(1))
            plain = name in ("data", "detach", "detach_", "item", "numpy", "tolist", *_FACTORIES)
            how = name if plain or torch.is_grad_enabled() else "no_grad"
            stack = tuple(frames.stack(frame)) if how == "no_grad" else ()
            return Ended(frames.place(frame) if frame is not None else None, how, name, stack)
        known = [ended for tensor in inputs if (ended := self.of(tensor)) is not None]
        if not known:
            known = [
                self._values[value]
                for argument in arguments
                for value in _values(argument)
                if value in self._values
            ]
        return known[0] if known else None


def call_name(func: Any) -> str:
    """The name by which a script calls it; a property's own name (`data`)."""
    name = getattr(func, "__name__", "") or ""
    if name in ("__get__", "__set__"):
        return str(getattr(getattr(func, "__self__", None), "__name__", name))
    return str(name)


def _tensors(value: Any, depth: int = 2) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple) and depth:
        for item in value[:64]:
            yield from _tensors(item, depth - 1)


def _values(value: Any, depth: int = 2) -> Iterator[object]:
    """What identifies a value outside torch: floats by value, arrays by their memory."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, list | tuple) and depth:
        for item in value[:64]:
            yield from _values(item, depth - 1)
    elif hasattr(value, "__array_interface__"):
        yield ("array", value.__array_interface__["data"][0])
