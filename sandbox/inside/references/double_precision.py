"""Runs a script in double precision, whatever precision it asks for.

Rounding is then some 1e-13, which distinguishes two ways of computing one thing from two things.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from ..core import frames
from .single_precision_draws import SinglePrecisionDraws

_torch: Any = torch
_HIGHER = {
    torch.float32: torch.float64,
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
}
_MAKES: dict[Any, Any] = {
    torch.Tensor.float: torch.Tensor.double,
    torch.Tensor.half: torch.Tensor.double,
    torch.Tensor.bfloat16: torch.Tensor.double,
    torch.Tensor.double: torch.Tensor.double,
}
_LOWERS: dict[Any, torch.dtype] = {
    torch.Tensor.half: torch.float16,
    torch.Tensor.bfloat16: torch.bfloat16,
    torch.Tensor.double: torch.float64,
}


class DoublePrecision(TorchFunctionMode):
    """Raises every floating number to double; `asked` collects the other precisions that the
    script asked for, in the order in which it first did."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[str, None] = {}

    def install(self) -> None:
        """Switch it on for good, and autocast off."""
        torch.set_default_dtype(torch.float64)
        _torch.set_default_dtype = lambda kind: self._note(kind)
        _torch.set_default_tensor_type = lambda kind: None
        self._switch_autocast_off()
        modes: list[Any] = [self, SinglePrecisionDraws()]
        for mode in modes:
            mode.__enter__()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in _MAKES:
            if func in _LOWERS:
                self._note(_LOWERS[func])
            return _MAKES[func](*args, **kwargs)
        args = tuple(self._raised(value) for value in args)
        kwargs = {name: self._raised(value) for name, value in kwargs.items()}
        result = func(*args, **kwargs)
        if type(result) is torch.Tensor and result.dtype in _HIGHER and result.is_leaf:
            if not any(isinstance(value, torch.Tensor) for value in args):  # made of no tensor
                return (
                    result.detach().to(_HIGHER[result.dtype]).requires_grad_(result.requires_grad)
                )
        return result

    def _raised(self, value: Any) -> Any:
        if not isinstance(value, torch.dtype) or not value.is_floating_point:
            return value
        self._note(value)
        return _HIGHER.get(value, value)

    def _note(self, kind: torch.dtype) -> None:
        if kind is not torch.float32 and not _is_asked_by_us():
            self.asked[str(kind).removeprefix("torch.")] = None

    def _switch_autocast_off(self) -> None:
        kind: Any = torch.amp.autocast_mode.autocast
        init: Callable[..., None] = kind.__init__
        asked = self.asked

        def initialise(autocast: Any, *args: Any, **kwargs: Any) -> None:
            init(autocast, *args, **kwargs)
            if autocast._enabled:
                asked[f"autocast {autocast.fast_dtype}".replace("torch.", "")] = None
            autocast._enabled = False

        kind.__init__ = initialise


def _is_asked_by_us() -> bool:
    """Return True if the call that led here is one of the tracer's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame is not None and frames.is_own(frame.f_code)
