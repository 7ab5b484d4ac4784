"""What torch refuses although it is plain what is meant: a reference does it, and goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .graph import roots_of, walk

Function = Callable[..., Any]


class Lenient(TorchFunctionMode):
    """Calls again what torch has refused, in the way that was meant."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        try:
            return func(*args, **kwargs)
        except RuntimeError as error:
            meant = next((do for said, do in _MEANT.items() if said in str(error)), None)
            if meant is None:
                raise
        return meant(func, *args, **kwargs)


def _unrecorded(func: Function, leaf: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """A write into a leaf is an update of it; but what has a graph that leads to other leaves is
    refused again."""
    own = leaf if leaf._base is None else leaf._base
    leads = {id(at.variable) for _, at in walk(roots_of((*args, *kwargs.values()))).leaves}
    with torch.set_grad_enabled(bool(leads - {id(own)})):
        return func(leaf, *args, **kwargs)


def _of_the_numbers(func: Function, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """An array holds numbers and no graph."""
    return func(tensor.detach(), *args, **kwargs)


def _copied(func: Function, tensor: torch.Tensor, memo: dict[int, Any]) -> torch.Tensor:
    """A copy of what a module or a record holds is one of the numbers."""
    memo[id(tensor)] = copy = tensor.detach().clone()
    return copy


def _cut(func: Function, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """A result that is to require no gradient is cut from its graph."""
    return tensor.detach_()


_MEANT: Mapping[str, Function] = {  # by what torch says
    "leaf Variable that requires grad": _unrecorded,
    "Can't call numpy() on Tensor that requires grad": _of_the_numbers,
    "support the deepcopy protocol": _copied,
    "change requires_grad flags of leaf": _cut,
}
