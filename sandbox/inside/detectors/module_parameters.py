"""Find the modules that exist, and the parameters of those that were called."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import torch
from torch.nn import Module, ParameterDict, ParameterList

LIBRARY = "torch.nn.modules."


def modules() -> list[Module]:
    """Return all modules that exist."""
    return [
        module
        for module in gc.get_objects()
        if issubclass(type(module), Module) and "_parameters" in vars(module)
    ]


def parameters_of(modules: list[Module], called: set[int]) -> set[int]:
    """Return parameters of modules that were called, or of which a part was called.

    Parts of torch's own modules count, which use some without a call (the attention its
    projection).
    """
    library = [m for m in modules if id(m) in called and type(m).__module__.startswith(LIBRARY)]
    within = {id(part) for module in library for part in module.modules()}
    return {
        id(parameter)
        for module in modules
        for parameter in _own_parameters(module)
        if id(module) in within or any(id(part) in called for part in module.modules())
    }


def _own_parameters(module: Module) -> Iterator[torch.Tensor]:
    """Yield the parameters that a module holds itself, or in lists and dictionaries.

    Nobody calls these. If some of them got a gradient, others may be meant not to.
    """
    yield from (one for one in module._parameters.values() if one is not None)
    for held in module._modules.values():
        if isinstance(held, ParameterDict | ParameterList):
            parameters = [one for one in held._parameters.values() if one is not None]
            if all(one.grad is None for one in parameters):
                yield from parameters
