"""The targets of torch's own losses."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

Function = Callable[..., Any]


class LossTargetMode(TorchFunctionMode):
    """Notes whether any loss was given a target with a graph; `held` takes that graph away."""

    def __init__(self, *, held: bool) -> None:
        super().__init__()
        self._held = held
        self.moving = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        place = _place(func) if getattr(func, "__module__", "") == _LOSSES else None
        if place is not None:
            given = args[place] if place < len(args) else kwargs.get("target")
            if isinstance(given, torch.Tensor) and given.grad_fn is not None:
                self.moving = True
                if self._held:
                    args, kwargs = _with(given.detach(), place, args, kwargs)
        return func(*args, **kwargs)


_LOSSES = torch.nn.functional.__name__


@cache
def _place(func: Function) -> int | None:
    """Return the position of a torch function's target argument; None if it takes none."""
    try:
        names = list(inspect.signature(func).parameters)
    except ValueError:  # one that is not written in Python
        return None
    return names.index("target") if "target" in names else None


def _with(target: torch.Tensor, place: int, args: Any, kwargs: Any) -> tuple[Any, Any]:
    if place < len(args):
        return (*args[:place], target, *args[place + 1 :]), kwargs
    return args, {**kwargs, "target": target}
