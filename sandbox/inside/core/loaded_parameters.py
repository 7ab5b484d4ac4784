"""Which parameters were given values that had been trained before."""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from typing import Any

import torch
from torch.nn import Module
from torch.utils.weak import WeakIdKeyDictionary


class LoadedParameters:
    """Listens to `Module.load_state_dict`, which most ways of loading weights end in."""

    def __init__(self) -> None:
        self._loaded = WeakIdKeyDictionary()
        load = Module.load_state_dict

        @wraps(load)
        def load_state_dict(
            module: Module, state_dict: Mapping[str, Any], *args: Any, **kw: Any
        ) -> Any:
            result = load(module, state_dict, *args, **kw)
            for name, parameter in module.named_parameters():
                if name in state_dict:
                    self._loaded[parameter] = True
            return result

        kind: Any = Module
        kind.load_state_dict = load_state_dict

    def __contains__(self, tensor: torch.Tensor) -> bool:
        return tensor in self._loaded
