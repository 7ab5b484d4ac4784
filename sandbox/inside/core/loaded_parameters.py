"""Which parameters were given values that had been trained before."""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from typing import Any

import torch
from torch.nn import Module
from torch.utils.weak import WeakIdKeyDictionary


class LoadedParameters:
    """Listens to `Module.load_state_dict`, which most ways of loading weights end in.

    A module that is given its own state has loaded nothing: `load_state_dict({**net.state_dict(),
    **saved})`.
    """

    def __init__(self) -> None:
        self._loaded = WeakIdKeyDictionary()
        load = Module.load_state_dict

        @wraps(load)
        def load_state_dict(
            module: Module, state_dict: Mapping[str, Any], *args: Any, **kw: Any
        ) -> Any:
            before = dict(module.named_parameters())
            own = {n for n, p in before.items() if n in state_dict and _is_of(p, state_dict[n])}
            result = load(module, state_dict, *args, **kw)
            for name, parameter in module.named_parameters():
                if name in state_dict and name not in own:
                    self._loaded[parameter] = True
            return result

        kind: Any = Module
        kind.load_state_dict = load_state_dict

    def __contains__(self, tensor: torch.Tensor) -> bool:
        return tensor in self._loaded


def _is_of(parameter: torch.Tensor, value: Any) -> bool:
    """Return True if a state's value is the parameter's own memory."""
    try:
        return bool(value.untyped_storage()._cdata == parameter.untyped_storage()._cdata)
    except (AttributeError, NotImplementedError, RuntimeError):  # no tensor; one without memory
        return False
