"""Knows networks that are run for what a hook of a layer gets, and whose own result is dropped."""

from __future__ import annotations

import weakref
from types import FrameType

from torch.nn import Module

from ..core import frames
from ..core.instructions import drops_result
from ..core.parameters import KnownParameter, ParameterRegistry


class DiscardedResults:
    """The parameters of such a network that have no gradient while others of it have one: they
    come after the layer."""

    def __init__(self, parameters: ParameterRegistry) -> None:
        self._parameters = parameters
        self._seen: set[int] = set()
        self._found: list[weakref.ref[Module]] = []

    def called(self, module: Module, frame: FrameType) -> None:
        """Note a module if its parts have hooks and the user's code drops what it returns."""
        if id(module) in self._seen:
            return
        self._seen.add(id(module))
        hooked = any(part._forward_hooks for part in module.modules() if part is not module)
        user = frames.user_frame(frame)
        if hooked and user is not None and drops_result(user):
            self._found.append(weakref.ref(module))

    def holds(self, known: KnownParameter) -> bool:
        """Return True for a parameter of such a network, if others of it got a gradient."""
        tensor = known.tensor()
        for found in self._found:
            owned = list(module.parameters()) if (module := found()) is not None else []
            if any(one is tensor for one in owned):
                others = map(self._parameters.find, owned)
                return any(one is not None and one.receipts for one in others)
        return False
