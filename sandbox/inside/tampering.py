"""Notices when a script replaces what it is observed through."""

from __future__ import annotations

import functools
import sys
import weakref
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.autograd.graph
from torch.autograd.variable import Variable
from torch.optim import Optimizer

from .core import frames
from .core.engine import Call, Observer
from .core.own_modules import own_modules
from .recorders.steps import StepWatch

_MISSING = object()
_READ_BY = ("grad", "data", "detach", "double", "reshape", "tolist", "__matmul__", "__float__")
"""Of a tensor: what fingerprints are read by."""


@dataclass(frozen=True)
class IntegrityCheck:
    """An attribute as it was when the script began."""

    name: str
    owner: Any
    attribute: str
    value: object

    def report(self) -> str | None:
        """Return what to report if the script replaced it; libraries may."""
        now = getattr(self.owner, self.attribute, _MISSING)
        if now is self.value or now == self.value:
            return None
        if now is _MISSING:
            return f"it removed {self.name}"
        whose, file = _maker(now)
        if whose in (frames.LIBRARY, frames.INNER):
            return None
        return f"it replaced {self.name}" + (f" ({file})" if file else "")


class IntegrityChecks:
    """The ways into torch's engine and optimizers, and the tracer's own modules."""

    def __init__(self) -> None:
        """Take everything as it is now: to be made once the instruments are in place."""
        self._seals = [
            IntegrityCheck(name, owner, attribute, getattr(owner, attribute, _MISSING))
            for name, owner, attribute in _entries()
        ]
        self._modules = own_modules()

    def broken(self) -> list[str]:
        """Return what the script did, in words; at most sixteen."""
        found = [said for seal in self._seals if (said := seal.report()) is not None]
        if any(sys.modules.get(name) is not module for name, module in self._modules.items()):
            found.append("it replaced modules of the tracer")
        return list(dict.fromkeys(found))[:16]


@dataclass
class Suspicion:
    """An optimizer's own `step` that was never seen to lead to a real one."""

    step: object
    values: list[str]
    changes: int = 0  # of its parameters, from one backward to the next


@dataclass
class HiddenSteps(Observer):
    """Notices optimizers whose `step` a script replaced so that steps go unseen.

    A `step` of the instance's own may well lead to that of the class: schedulers wrap it so. It
    hides steps where the parameters change, again and again, and none is seen.
    """

    steps: StepWatch
    found: list[str] = field(default_factory=list)
    _suspected: weakref.WeakKeyDictionary[Optimizer, Suspicion] = field(
        default_factory=weakref.WeakKeyDictionary
    )

    def before(self, call: Call) -> None:
        """Compare the parameters of optimizers under suspicion with what they were."""
        for optimizer in self.steps.optimizers.alive():
            own = vars(optimizer).get("step")
            if own is None:
                continue
            if self.steps.optimizers.is_led_by(optimizer, own):
                self._suspected.pop(optimizer, None)
            else:
                self._look(optimizer, own)

    def _look(self, optimizer: Optimizer, own: object) -> None:
        whose, file = _maker(own)
        if whose != frames.USER:
            return
        values = [
            repr(float(parameter.detach().double().abs().sum()))
            for group in optimizer.param_groups
            for parameter in group["params"]
        ]
        suspicion = self._suspected.get(optimizer)
        if suspicion is None or suspicion.step is not own:
            self._suspected[optimizer] = Suspicion(own, values)
            return
        suspicion.changes += suspicion.values != values
        suspicion.values = values
        if suspicion.changes == 2:
            self.found.append(f"it replaced an optimizer's step ({file}), and hid its steps")


def _entries() -> list[tuple[str, Any, str]]:
    """Return the name, the owner and the attribute of each thing watched."""
    autograd: Any = torch.autograd
    kinds: list[type] = [Optimizer, *Optimizer.__subclasses__()]
    steps = [
        (f"torch.optim.{kind.__name__}.step", kind, "step")
        for kind in kinds
        if kind.__module__.startswith("torch.")
    ]
    return [
        ("torch.Tensor.backward", torch.Tensor, "backward"),
        ("torch.autograd.backward", autograd, "backward"),
        ("torch.autograd.grad", autograd, "grad"),
        ("the entry to torch's engine", autograd, "_engine_run_backward"),
        ("the entry to torch's engine", autograd.graph, "_engine_run_backward"),
        ("torch's engine", Variable, "_execution_engine"),
        *((f"torch.Tensor.{name}", torch.Tensor, name) for name in _READ_BY),
        ("torch.linalg.vector_norm", torch.linalg, "vector_norm"),
        *steps,
    ]


def _maker(value: Any) -> tuple[str | None, str]:
    """Return whose code a callable is, and the file where it was written, as far as it shows."""
    while isinstance(value, functools.partial | functools.partialmethod):
        value = value.func
    code = getattr(getattr(value, "__func__", value), "__code__", None)
    if code is None:
        return None, ""
    return frames.owner(code), f"{frames.file_name(code.co_filename)}:{code.co_firstlineno}"
