"""Updates that a script writes out and rebinds (`w = w - lr * w.grad`), made of size zero."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Collection, Iterator
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from ..core.graph import storage_of

_GRADIENT: Any = vars(torch.Tensor.__mro__[1])["grad"]  # the attribute of every tensor
_TRACER = __name__.rsplit(".", 2)[0]
_PARTS = ("core", "references", "recorders", "detectors", "errors", "custom_engines", "script")
_WATCHING = {_TRACER, *(f"{_TRACER}.{part}" for part in _PARTS)}  # but for what scripts are given
_ADDING = ("add", "sub", "rsub", "addcmul", "addcdiv", "lerp")


class HeldUpdates(TorchFunctionMode):
    """Counts gradients as zero where they are added to a leaf or to what it led to.

    `memory` is that of the leaves. With `renew`, the result is what the script means it to be: a
    leaf, which the next iteration trains. `on_read` gets each tensor whose gradient is read.
    """

    def __init__(
        self,
        memory: Collection[int | None],
        on_read: Callable[[torch.Tensor], None],
        *,
        renew: bool,
    ) -> None:
        super().__init__()
        self._memory = memory
        self._on_read = on_read
        self._renew = renew
        self._steps: dict[int, weakref.ref[torch.Tensor]] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        given = [a for a in _flat((*args, *kwargs.values())) if isinstance(a, torch.Tensor)]
        if getattr(func, "__self__", None) is _GRADIENT:
            if not _is_asked_by_us():
                self._on_read(args[0])
            return self._noted(func(*args, **kwargs))
        steps = [tensor for tensor in given if self._is_step(tensor)]
        if not steps:
            return func(*args, **kwargs)
        trained = [t for t in given if t.requires_grad or storage_of(t) in self._memory]
        if not trained:
            return self._noted(func(*args, **kwargs))
        if str(func.__name__).strip("_").removeprefix("i") not in _ADDING:
            return func(*args, **kwargs)
        return self._held(func, trained[0], args, kwargs)

    def _held(self, func: Callable[..., Any], leaf: torch.Tensor, args: Any, kwargs: Any) -> Any:
        result = func(
            *(self._as_zeros(a) for a in args), **{k: self._as_zeros(v) for k, v in kwargs.items()}
        )
        if self._renew and leaf.is_leaf and leaf.requires_grad and result is not leaf:
            return result.detach().requires_grad_()
        return result

    def _as_zeros(self, value: Any) -> Any:
        known = isinstance(value, torch.Tensor) and self._is_step(value)
        return torch.zeros_like(value) if known else value

    def _noted(self, result: Any) -> Any:
        if isinstance(result, torch.Tensor) and storage_of(result) not in self._memory:
            self._steps[id(result)] = weakref.ref(result)
        return result

    def _is_step(self, tensor: torch.Tensor) -> bool:
        known = self._steps.get(id(tensor))
        return known is not None and known() is tensor


def _is_asked_by_us() -> bool:
    """Return True if what watches the script reads a gradient, beneath any modes."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_name == "__torch_function__":
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__package__") in _WATCHING


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from value
        else:
            yield value
