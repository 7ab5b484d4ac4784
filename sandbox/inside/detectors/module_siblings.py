"""Which parameters are of one module with another that no optimizer has, while they live: functions
let go of their models before a script ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.nn import Module, Parameter

from ..core.parameters import KnownParameter, ParameterRegistry
from .graph_depth import GROWTH
from .module_parameters import modules


def note_module_siblings(received: Iterable[KnownParameter], parameters: ParameterRegistry) -> None:
    """Look, once for each, at parameters that came late, or that their module does not know, in a
    plain list or as a plain tensor, and that have gone on getting gradients. All modules are gone
    through: a few milliseconds."""
    fresh = [k for k in received if k.optimizer is None and k.receipts == GROWTH]
    tensors = {
        id(tensor): known
        for known in fresh
        if (tensor := known.tensor()) is not None
        if known.born or "[" in known.name or not isinstance(tensor, Parameter)
    }
    for module in modules() if tensors else ():
        own = {id(parameter): parameter for parameter in module.parameters()}
        met = {
            known.id for tensor in own.values() if (known := parameters.find(tensor)) is not None
        }
        for key in own.keys() & tensors.keys():
            tensors[key].kin |= met
        for tensor in _in_lists(module):
            if (listed := tensors.get(id(tensor))) is not None and len(met) == len(own):
                listed.listed_by |= met
        for name, kept in vars(module).items():
            plain = tensors.get(id(kept)) if isinstance(kept, torch.Tensor) else None
            if plain is not None and met and len(met) == len(own):
                plain.listed_by |= met
                parameters.rename(plain, f"{_path_of(module, parameters)}.{name}")


def _path_of(module: Module, parameters: ParameterRegistry) -> str:
    """Return the path of a module, by the name of one of its parameters."""
    name, parameter = next(iter(module.named_parameters()))
    known = parameters.find(parameter)
    return known.name.removesuffix(f".{name}") if known is not None else ""


def _in_lists(module: Module) -> Iterator[torch.Tensor]:
    """Yield parameters in plain lists and dictionaries of a module."""
    for name, kept in vars(module).items():
        entries: Any = kept.values() if type(kept) is dict else kept
        own = type(kept) in (list, tuple, dict) and not name.startswith("_")  # or what torch keeps
        for entry in entries if own else ():
            if isinstance(entry, Module):
                yield from entry.parameters()
            elif isinstance(entry, torch.Tensor):
                yield entry
