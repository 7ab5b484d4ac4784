"""Which parameters an error of DDP speaks of: its message has their numbers, and names only where
`TORCH_DISTRIBUTED_DEBUG` asks for them."""

from __future__ import annotations

import re
import sys
from typing import Any

import torch

UNFINISHED = "finished reduction in the prior iteration"
_NUMBERS = re.compile(
    r"(?:did not receive grad for rank \d+|[Pp]arameter at index)[^\d\[]*([\d ,]+)"
)
MOST = 64

Named = list[tuple[str, torch.Tensor]]


def concerned(error: BaseException) -> Named:
    """Return the parameters by their names in their module.

    Return none if several modules are wrapped and the error does not identify one.
    """
    if not isinstance(error, RuntimeError):
        return []
    found = [int(n) for listed in _NUMBERS.findall(str(error)) for n in re.findall(r"\d+", listed)]
    wrapped = _wrapped() if found else []
    if len(wrapped) != 1:
        return []
    parameters = _reduced(wrapped[0])
    return [parameters[n] for n in found[:MOST] if n < len(parameters)]


def _wrapped() -> list[Any]:
    """Return every module that is wrapped for several processes."""
    from ..detectors.module_parameters import modules

    made: Any = sys.modules.get("torch.nn.parallel.distributed")
    kind = getattr(made, "DistributedDataParallel", None)
    return [module for module in modules() if kind is not None and isinstance(module, kind)]


def _reduced(wrapped: Any) -> Named:
    """Return the parameters that are reduced, in DDP's own order."""
    names = {id(parameter): name for name, parameter in wrapped.module.named_parameters()}
    parameters, _ = wrapped._build_params_for_reducer()
    return [(names.get(id(parameter), ""), parameter) for parameter in parameters]
