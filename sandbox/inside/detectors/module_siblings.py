"""Which parameters are of one module with another that no optimizer has, while they live: functions
let go of their models before a script ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.nn import Module

from ..core.parameters import KnownParameter, ParameterRegistry
from .graph_depth import GROWTH
from .module_parameters import modules


def note_module_siblings(received: Iterable[KnownParameter], parameters: ParameterRegistry) -> None:
    """Look, once for each, at parameters that came late, or are in a plain list, and have gone on
    getting gradients. All modules are gone through: a few milliseconds."""
    fresh = [k for k in received if k.optimizer is None and k.receipts == GROWTH]
    fresh = [k for k in fresh if k.born or "[" in k.name]
    tensors = {id(tensor): k for k in fresh if (tensor := k.tensor()) is not None}
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
