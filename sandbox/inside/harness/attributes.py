"""Attributes, methods and layers that a text asks of values which lack them."""

from __future__ import annotations

import sys
from types import MethodType
from typing import Any

import torch
from torch import nn

from ..core import frames
from .context import Harness
from .entries import is_method, is_static
from .models import Function

_OF_TORCH = frozenset(  # that modules are asked for whether they have it
    {
        "_forward_hooks",
        "_backward_hooks",
        "_parameters",
        "_buffers",
        "_modules",
        "__jit_unused_properties__",
    }
)


class Attributes:
    """What invented values, and objects of the text's classes, lack in one harness."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        self._configured: dict[str, Any] = {}
        self._named = {path.rpartition(".")[2] for path in harness.uses.of} - _OF_TORCH

    def offers(self, name: str) -> bool:
        """Return True for an attribute that a placeholder gives: of private ones (`model._fc`),
        those that the text names."""
        return name[:1] != "_" or (name[:2] != "__" and name in self._named)

    def of(self, path: str, name: str) -> Any:
        """Return an attribute of a placeholder."""
        if "." not in path and (method := self._method(name)) is not None:
            return method
        if name == "scale" and "backward" in self._harness.use(f"{path}.scale()").methods:
            return _as_it_is
        if name in ("backward", "manual_backward"):
            return lambda loss, *args, **kwargs: loss.backward(*args, **kwargs)
        use = self._harness.use(f"{path}.step")
        if name == "step" and use.called and use.called[0].args:
            given = self._harness.use(f"{path}.step()")
            if not (given.names or given.parts):  # else what it gives is used
                return _step
        return self._harness.load(f"{path}.{name}", frames.user_frame(sys._getframe(1)))

    def _method(self, name: str) -> Any:
        """Return a method that the script shows without its class."""
        node = self._harness.uses.functions.get(name)
        if node is not None and is_static(node):
            return vars(sys.modules["__main__"])[name]
        if node is None or not is_method(node):
            return None
        return MethodType(vars(sys.modules["__main__"])[name], self._harness.load("self", None))

    def missing(self, thing: Any, name: str) -> Any:
        """Return an attribute that an object of one of the script's classes lacks."""
        if name.startswith("__") or name in _OF_TORCH:
            raise AttributeError(f"{type(thing).__name__!r} object has no attribute {name!r}")
        if name in ("optimizers", "trainer_optimizers") and hasattr(thing, "configure_optimizers"):
            return lambda *args, **kwargs: self.optimizers_of(thing)
        made = self.of(f"{type(thing).__name__}.self", name)
        if isinstance(thing, nn.Module) and isinstance(made, nn.Module):
            thing._modules.setdefault(name, made)
        return made

    def layers(self, owner: str, module: nn.Module) -> None:
        """Make the layers of a module that the text names and that no constructor makes."""
        for path in list(self._harness.uses.of):
            name = path.removeprefix(f"{owner}.")
            if name != path and name.isidentifier() and not hasattr(type(module), name):
                if self._harness.role(path) == "module":
                    made = getattr(module, name)
                    if isinstance(made, nn.Module) and made is not module:
                        module._modules.setdefault(name, made)

    def optimizers_of(self, thing: Any) -> Any:
        """Return the result of `configure_optimizers`, asked once."""
        key = f"optimizers of {id(thing)}"
        if key not in self._configured:
            made = thing.configure_optimizers()
            while isinstance(made, tuple | list) and made and isinstance(made[0], list):
                made = made[0]
            made = [one["optimizer"] if isinstance(one, dict) else one for one in _listed(made)]
            self._configured[key] = made if len(made) > 1 else made[0]
        return self._configured[key]

    def called(self, path: str, args: Any, kwargs: Any) -> Any:
        """Return the result of calling a value that was not taken for a callable."""
        method = self._method("forward") if path == "self" else None
        return (method or Function(path))(*args, **kwargs)


def _step(optimizer: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return the result of a step that another object (a scaler, an accelerator) makes."""
    return optimizer.step() if isinstance(optimizer, torch.optim.Optimizer) else None


def _as_it_is(loss: Any) -> Any:
    """Return a scaled loss: the loss itself."""
    return loss


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
