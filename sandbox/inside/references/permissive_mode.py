"""What torch refuses although it is plain what is meant: a reference does it, and goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from ..core.engine import Call, Observer
from ..core.graph import roots_of, walk
from ..core.parameters import ParameterRegistry

Function = Callable[..., Any]
LOOKS, NODES = 64, 4096  # at what NumPy is given, and of its graph each time


class PermissiveMode(TorchFunctionMode, Observer):
    """Calls again what torch has refused, in the way that was meant; hands out the gradient of a
    result that keeps none, and views that may be written into."""

    def __init__(self, parameters: ParameterRegistry) -> None:
        super().__init__()
        self._parameters = parameters
        self._looks = LOOKS
        self._last: tuple[tuple[Any, ...], tuple[Any, ...]] | None = None

    def after(self, call: Call) -> None:
        """Record what the backward call reached."""
        if call.kind == "backward":
            self._last = call.outputs, call.weights

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.Tensor.__iter__:
            return iter(_single(args[0], args[0].unbind(0)))
        try:
            result = func(*args, **kwargs)
        except RuntimeError as error:
            meant = next((do for said, do in _MEANT.items() if said in str(error)), None)
            if meant is None:
                raise
            if meant is _of_the_numbers:
                self._note_numbers(args[0])
            return meant(func, *args, **kwargs)
        if result is None and getattr(func, "__self__", None) is _GRADIENT:
            return self._gradient(args[0])
        return _single(args[0], result) if isinstance(result, tuple | list) and args else result

    def _note_numbers(self, tensor: torch.Tensor) -> None:
        """Record the parameters of a value of which only the numbers go on."""
        self._looks -= 1
        found = walk(roots_of([tensor]), NODES) if self._looks >= 0 else None
        if found is not None and len(found.nodes) < NODES:
            self._parameters.note_numbers([tensor, *(leaf.variable for _, leaf in found.leaves)])

    def _gradient(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """Return the gradient of a result in the last backward call."""
        if self._last is None or tensor.grad_fn is None:
            return None
        outputs, weights = self._last
        engine: Any = torch._C._ImperativeEngine()  # itself, whoever watches
        asked = (weights, True, False, (tensor,), True)
        gradient: torch.Tensor | None
        (gradient,) = engine.run_backward(outputs, *asked, accumulate_grad=False)
        return gradient


def _single(source: Any, views: Any) -> Any:
    """Make views one by one that were made together: those may not be written into."""
    first = views[0] if views else None
    if not isinstance(first, torch.Tensor) or type(first.grad_fn).__name__ not in _TOGETHER:
        return views
    return type(views)(source.as_strided(v.size(), v.stride(), v.storage_offset()) for v in views)


def _unrecorded(func: Function, leaf: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """Write into a leaf without recording, as an update.

    Refuse again a value whose graph leads to other leaves.
    """
    own = leaf if leaf._base is None else leaf._base
    leads = {id(at.variable) for _, at in walk(roots_of((*args, *kwargs.values()))).leaves}
    with torch.set_grad_enabled(bool(leads - {id(own)})):
        return func(leaf, *args, **kwargs)


def _recorded(func: Function, view: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """Write with recording to a view that was made while nothing was recorded."""
    base = view if view._base is None else view._base
    return func(base.as_strided(view.size(), view.stride(), view.storage_offset()), *args, **kwargs)


def _of_the_numbers(func: Function, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return an array of the numbers, without graph."""
    return func(tensor.detach(), *args, **kwargs)


def _copied(func: Function, tensor: torch.Tensor, memo: dict[int, Any]) -> torch.Tensor:
    """Copy the numbers of what a module or a record holds."""
    memo[id(tensor)] = copy = tensor.detach().clone()
    return copy


def _cut(func: Function, tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """Cut a result from its graph that is to require no gradient."""
    return tensor.detach_()


def _of_the_sum(func: Function, outputs: Any, *args: Any, **kwargs: Any) -> Any:
    """Differentiate the sum of many values.

    A loss of many values may as well be meant as their mean, so its `backward` is refused again.
    """
    if func.__name__ == "grad":
        several = (outputs,) if isinstance(outputs, torch.Tensor) else outputs
        kwargs["grad_outputs"] = [torch.ones_like(output) for output in several]
    return func(outputs, *args, **kwargs)


_TENSOR: Any = torch.Tensor.__base__  # it has had several names
_GRADIENT: Any = vars(_TENSOR)["grad"]  # the attribute of every tensor
_TOGETHER = ("UnbindBackward0", "SplitBackward0", "SplitWithSizesBackward0")
_MEANT: Mapping[str, Function] = {  # by what torch says
    "leaf Variable that requires grad": _unrecorded,
    "A view was created in no_grad mode": _recorded,
    "Can't call numpy() on Tensor that requires grad": _of_the_numbers,
    "support the deepcopy protocol": _copied,
    "change requires_grad flags of leaf": _cut,
    "grad can be implicitly created only for scalar outputs": _of_the_sum,
}
