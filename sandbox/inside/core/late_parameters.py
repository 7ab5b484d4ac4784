"""Which parameters began to learn after an optimizer was created.

A module got them afterwards, or they were frozen then.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from types import FrameType

import torch
from torch.nn import Module, Parameter
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.utils.weak import WeakIdKeyDictionary

from .holders import ReferrerSearch

LOOKS = 16  # optimizers at which it is seen what is frozen


class LateParameters:
    """Counts optimizers; knows of each parameter how many there were before it began."""

    def __init__(self) -> None:
        self._optimizers = 0
        self._behind: MutableMapping[torch.Tensor, int] = WeakIdKeyDictionary()
        register_module_parameter_registration_hook(self._note)

    def made(self, optimizer: int, frame: FrameType | None) -> None:
        """Record that the optimizer of this number takes its parameters here."""
        if optimizer < self._optimizers:
            return
        self._optimizers = optimizer + 1
        if optimizer < LOOKS:
            frozen = ReferrerSearch(_is_frozen, budget=20_000, depth=4, leaves=True)
            for _, parameter in frozen.around(frame):
                self._behind[parameter] = self._optimizers

    def of(self, tensor: torch.Tensor) -> int:
        """Return how many optimizers were made before the tensor began; 0 if that is not known."""
        return self._behind.get(tensor, 0)

    def _note(self, module: Module, name: str, parameter: Parameter | None) -> None:
        if self._optimizers and parameter is not None and parameter not in self._behind:
            self._behind[parameter] = self._optimizers


def _is_frozen(tensor: torch.Tensor) -> bool:
    return isinstance(tensor, Parameter) and not tensor.requires_grad
