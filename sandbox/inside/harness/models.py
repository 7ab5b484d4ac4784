"""Small stubs of what a script calls: models, losses, functions, makers, optimizers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map

from .context import CurrentHarness
from .lineage import made_for
from .roles import is_cutting

WIDTH = 4
_OF_SCALERS = ("grad_scale", "found_inf")  # that torch asks every optimizer for


def tensors_in(value: Any, depth: int = 3) -> Iterator[torch.Tensor]:
    """Yield the real tensors that an argument is or holds; complex ones as two of these."""
    if isinstance(value, torch.Tensor):
        if value.is_floating_point():
            yield value
        elif value.is_complex():
            yield torch.view_as_real(value.resolve_conj())
    elif isinstance(value, list | tuple) and depth:
        for item in value:
            yield from tensors_in(item, depth - 1)
    elif isinstance(value, dict) and depth:
        for item in value.values():
            yield from tensors_in(item, depth - 1)
    elif depth and hasattr(value, "_held") and ((held := value._held()) or value._acts()):
        yield from tensors_in(held, depth - 1)
    elif (own := getattr(value, "_as_tensor", None)) is not None:
        yield own()


def _detached(value: Any) -> Any:
    return value.detach() if isinstance(value, torch.Tensor) else value


def blend(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return one number that depends on all of them, through operations that save them."""
    total = torch.tensor(0.5)
    for tensor in tensors:
        total = total + (tensor * torch.tanh(tensor)).mean()
    return torch.tanh(total)


def _is_choice(value: Any) -> bool:
    """Return True for classes that the script has chosen: what counts these is not trained."""
    if not isinstance(value, torch.Tensor) or value.is_floating_point() or value.is_complex():
        return False
    return made_for(value) is None or made_for(value) not in CurrentHarness.harness.plan.whole


def _source(path: str, given: Sequence[Any]) -> torch.Tensor:
    """Return a number that depends on what a function is given.

    If that is only a batch and backward is called on a loss of it, it also depends on the models in
    sight: the function has them by itself.
    """
    source = blend(list(tensors_in(given)))
    uses = CurrentHarness.harness.use(f"{path}()"), CurrentHarness.harness.use(f"{path}()[0]")
    runs_backward = any("backward" in use.methods for use in uses)
    if runs_backward and given and all(hasattr(one, "_held") for one in given):
        source = source * CurrentHarness.harness.known_models.anchor()
    return source


def pattern(shape: list[int]) -> torch.Tensor:
    """Return fixed numbers of a shape, none of them equal to its neighbour."""
    count = int(torch.Size(shape).numel())
    return (torch.arange(count).remainder(7).float() / 7 - 0.4).view(shape)


class Model(nn.Module):
    """Gives tensors that depend on its weight and on all that it is given."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.weight = nn.Parameter(0.3 + 0.1 * torch.rand(WIDTH, WIDTH))
        self.__dict__["_path"] = path

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        within = [p for part in self.children() for p in part.parameters()]
        source = blend([*tensors_in(given), *within]) * torch.ones(1, WIDTH)
        source = source.to(self.weight.dtype)
        source = torch.tanh(torch.tanh(source @ self.weight) @ self.weight).mean()
        return CurrentHarness.harness.outputs.of(self._path + "()", source, given, self._path)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if not CurrentHarness.harness.attributes.offers(name):
                raise
            return CurrentHarness.harness.attributes.of(self._path, name)

    def __iter__(self) -> Iterator[Any]:
        """Yield its layers, one of them."""
        return iter([CurrentHarness.harness.load(self._path + ".layer", None)])


class Criterion(Model):
    """Gives one number that depends on all that it is given."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        del self.weight

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        source = _source(self._path, given)
        parts = CurrentHarness.harness.use(self._path + "()").count
        if 1 < parts <= 8:
            return CurrentHarness.harness.outputs.depending(
                tuple(source * (1.0 + n) for n in range(parts)), given
            )
        return CurrentHarness.harness.outputs.depending(source * source, given)


class Function:
    """Gives tensors that depend on what it is given; without tensors, what its use wants."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._model = Model(path) if CurrentHarness.harness.plan.weights else None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and _is_definition(args[0]):
            return args[0]  # a decorator
        if len(args) == 1 and is_cutting(self._path):
            return tree_map(_detached, args[0])
        given = [*args, *kwargs.values()]
        chosen = [one.float() for one in given[1:] and given if _is_choice(one)]
        tensors = [*tensors_in(given), *chosen]
        if not tensors:
            return CurrentHarness.harness.make(self._path + "()")
        if self._model is not None and not chosen:
            return self._model(*args, **kwargs)
        given += chosen
        source = _source(self._path, given)
        if (owner := CurrentHarness.harness.known_models.owner(self._path)) is not None:
            source = blend([source, *owner.parameters()])  # a method of a model
        return CurrentHarness.harness.outputs.of(self._path + "()", source, given)

    def __instancecheck__(self, instance: Any) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        if not CurrentHarness.harness.attributes.offers(name):
            raise AttributeError(name)
        return CurrentHarness.harness.attributes.of(self._path, name)


class Method:
    """A method of what a call gave (`log_prob` of a distribution): its result depends on what the
    call depended on, and on what the method is given."""

    def __init__(self, path: str, source: torch.Tensor) -> None:
        self._path = path
        self._source = source

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        source = blend([self._source, *tensors_in(given)])
        return CurrentHarness.harness.outputs.of(f"{self._path}()", source, given)


class Maker(Function):
    """Gives what its result is used as: a class, or a function that builds something."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and _is_definition(args[0]):
            return args[0]
        return CurrentHarness.harness.make(self._path + "()")


def _hooked(step: Any) -> Any:
    """Wrap a `step` as torch does when the first object of its class is made.

    Doing so at once means that nothing of ours changes while a script runs.
    """
    wrapped: Any = torch.optim.Optimizer.profile_hook_step(step)
    wrapped.hooked = True
    return wrapped


class Optimizer(torch.optim.Optimizer):
    """Gradient descent over the models that its name speaks of, or else all in sight."""

    def __init__(self, path: str) -> None:
        harness = CurrentHarness.harness
        harness.known_models.settle()
        self._path = path
        own = harness.known_models.held_by(path) if harness.plan.moves else None
        params = own if own is not None else [nn.Parameter(torch.ones(1))]
        names = [
            n
            for n, m in harness.known_models.models()
            if any(p is q for p in m.parameters() for q in params)
        ]
        self.over = ", ".join(f"`{n}`" for n in names[:3]) or "the parameters in sight"
        super().__init__(params, {"lr": 0.01})

    @_hooked
    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """Move every parameter against its gradient."""
        loss = None
        for _ in range(1 + CurrentHarness.harness.plan.repeats if closure is not None else 0):
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.add_(parameter.grad, alpha=-group["lr"])
        return loss

    def _partial_step(self, *args: Any, zero_grad: bool = False, **kwargs: Any) -> None:
        """Move the parameters, as `first_step` of an optimizer in several stages does."""
        self.step()
        if zero_grad:
            self.zero_grad()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in _OF_SCALERS:
            raise AttributeError(name)
        if name.endswith("_step"):
            return self._partial_step
        return CurrentHarness.harness.attributes.of(self._path, name)


def _is_definition(value: Any) -> bool:
    return isinstance(value, type) or type(value).__name__ == "function"
