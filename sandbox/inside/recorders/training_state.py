"""What a training is made of beyond its gradients: values, buffers, settings, random numbers.

Recorded only in runs that are to be compared with another version's: it costs each step a look at
every parameter.
"""

from __future__ import annotations

import random
import sys
import weakref
import zlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.nn import Module, Parameter
from torch.nn.modules.module import (
    register_module_buffer_registration_hook,
    register_module_parameter_registration_hook,
)
from torch.nn.parameter import is_lazy
from torch.optim import Optimizer

from ..core.frames import Json
from ..core.parameters import KnownParameter, ParameterRegistry
from .gradients import fingerprint

MODULES, TENSORS = 4096, 512  # at most looked at; at most recorded of one step
NUMBERS = 1 << 24  # elements of a tensor at most
SETTINGS, GROUPS = 32, 64
_module: Any = Module
_HOW = {"foreach", "fused", "capturable", "differentiable", "initial_lr", "name", "param_names"}
"""Of a group: what does not change what a step does."""


class TrainingState:
    """Looks at everything that a step starts from and changes."""

    def __init__(self, parameters: ParameterRegistry) -> None:
        self._parameters = parameters
        self._modules: dict[int, weakref.ref[Module]] = {}
        self._before: dict[int, list[float]] = {}
        self._group: dict[int, int] = {}  # which settings of its optimizer a parameter has

    def install(self) -> None:
        """Hook every module that has parameters or buffers of its own, and every copy of one."""
        register_module_buffer_registration_hook(self._meet)
        register_module_parameter_registration_hook(self._meet)
        set_state = _module.__setstate__

        def meeting(module: Module, state: dict[str, Any]) -> None:
            set_state(module, state)
            self._meet(module)

        _module.__setstate__ = meeting

    def _meet(self, module: Module, *_: object) -> None:
        key = id(module)
        known = self._modules.get(key)
        if (known is None or known() is not module) and len(self._modules) < MODULES:
            self._modules[key] = weakref.ref(module)

    def begin(self, owned: list[KnownParameter], optimizer: Optimizer | None) -> Json:
        """Return what a step starts from, to be written with it.

        That is the optimizer's class and settings, the state of the random generators, buffers, and
        parameters without an optimizer.
        """
        self._before |= {known.id: values_print(known.tensor()) for known in owned}
        begun = {"random": random_state(), "others": list(self._others())}
        return begun if optimizer is None else {**begun, **self._settings(optimizer)}

    def add_values(self, gradients: list[Json]) -> None:
        """Write into each what its parameter held as the step began, and its settings."""
        for one in gradients:
            one["values"] = self._before.get(one["param"], [])
            one["group"] = self._group.get(one["param"], 0)

    def add_changes(self, gradients: list[Json], owned: list[KnownParameter]) -> None:
        """Write into each by how much the step changed its parameter."""
        after = {known.id: values_print(known.tensor()) for known in owned}
        for one in gradients:
            old, new = self._before.get(one["param"]), after.get(one["param"])
            if old and new:
                one["change"] = [b - a for a, b in zip(old[1:], new[1:], strict=True)]

    def final(self) -> Json:
        """Return the state as the script ends."""
        known = [k for k in self._parameters.known if k.tensor() is not None]
        return {
            "t": "final",
            "values": [{"param": k.id, "values": values_print(k.tensor())} for k in known],
            "others": list(self._others()),
            "random": random_state(),
        }

    def _settings(self, optimizer: Optimizer) -> Json:
        """Return the class of an optimizer, and the distinct settings of its groups."""
        distinct: list[Json] = []
        for group in optimizer.param_groups:
            found = {
                str(key)[:80]: _setting(value)
                for key, value in list(group.items())[:SETTINGS]
                if key != "params" and key not in _HOW
            }
            if found not in distinct and len(distinct) < GROUPS:
                distinct.append(found)
            number = distinct.index(found) if found in distinct else 0
            met = self._parameters.meet(list(group["params"]), None)
            self._group |= {known.id: number for known in met}
        return {"kind": type(optimizer).__qualname__, "settings": distinct}

    def _others(self) -> Iterator[Json]:
        seen: set[int] = set()
        for key, reference in list(self._modules.items()):
            module = reference()
            if module is None:
                del self._modules[key]
                continue
            held = [*vars(module)["_buffers"].items(), *vars(module)["_parameters"].items()]
            for name, tensor in held:
                known = None if tensor is None else self._parameters.find(tensor)
                owned = known is not None and known.optimizer is not None
                if tensor is None or owned or id(tensor) in seen or len(seen) >= TENSORS:
                    continue
                seen.add(id(tensor))
                yield {
                    "name": f"{type(module).__name__}.{name}",
                    "shape": [] if is_lazy(tensor) else list(tensor.shape)[:16],
                    "parameter": isinstance(tensor, Parameter),
                    "values": values_print(tensor),
                }


def values_print(tensor: torch.Tensor | None) -> list[float]:
    """Return norm and projections of a tensor's values; empty if it holds no readable numbers."""
    if tensor is None or is_lazy(tensor) or tensor.is_meta or tensor.numel() > NUMBERS:
        return []
    found = fingerprint(tensor)
    return [found["norm"], *found["projections"]]


def random_state() -> str:
    """Return a digest of the generators of torch, NumPy and `random`.

    It is equal after as many draws from equal seeds.
    """
    parts = [
        torch.default_generator.get_state().numpy().tobytes(),
        repr(random.getstate()).encode(),
    ]
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        legacy = numpy.random.mtrand._rand.get_state(legacy=True)
        parts.append(legacy[1].tobytes() + repr(legacy[2:]).encode())
    return "".join(f"{zlib.crc32(part):08x}" for part in parts)


def _setting(value: object) -> list[float] | str:
    """Return numbers as numbers, so that they can be compared as such; all else as text."""
    if isinstance(value, torch.Tensor):
        return [float(value)] if value.numel() == 1 else "tensor"
    if isinstance(value, bool | int | float):
        return [float(value)]
    if isinstance(value, tuple | list) and all(isinstance(v, bool | int | float) for v in value):
        return [float(v) for v in value[:8]]
    return repr(value)[:80] if value is None or isinstance(value, str) else type(value).__name__
