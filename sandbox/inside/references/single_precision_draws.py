"""Random numbers of runs in double precision: those that the script would draw in single.

torch draws other numbers for other precisions. With the same ones a run in double begins where the
script's own run does, and stays within rounding of it.
"""

from __future__ import annotations

from typing import Any

import torch

from ..core.dispatch_mode import DispatchMode

_DRAWING = frozenset(
    [
        "rand",
        "rand_like",
        "randn",
        "randn_like",
        "normal",
        "normal_",
        "uniform",
        "uniform_",
        "bernoulli",
        "bernoulli_",
        "exponential_",
        "cauchy_",
        "log_normal_",
        "geometric_",
        "multinomial",
        "poisson",
        "binomial",
        "_standard_gamma",
        "_sample_dirichlet",
    ]
)


class SinglePrecisionDraws(DispatchMode):
    """Draws in single precision, and raises what was drawn to double."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func._schema.name.removeprefix("aten::") not in _DRAWING:
            return func(*args, **kwargs)
        lower = [_lowered(value) for value in args]
        more = {name: _lowered(value) for name, value in kwargs.items()}
        if more.get("dtype") is None and _makes(func):
            more["dtype"] = torch.float32
        drawn = func(*lower, **more)
        if func._schema.is_mutable:
            return args[0].copy_(lower[0]) if lower[0] is not args[0] else drawn
        return drawn.to(torch.float64) if drawn.is_floating_point() else drawn


def _makes(func: Any) -> bool:
    """Return True if it draws into a tensor of its own, of a precision that it accepts."""
    names = {argument.name for argument in func._schema.arguments}
    return "dtype" in names and "self" not in names


def _lowered(value: Any) -> Any:
    if isinstance(value, torch.Tensor) and value.dtype is torch.float64:
        return value.to(torch.float32)
    return torch.float32 if value is torch.float64 else value
