"""What may run backward over the graphs of a hand-written engine.

A method called `backward` does. So does whatever else iterates (a loop, or a call of itself), is
given an instance, and leaves other numbers than zeros in what that was made from: that defines a
backward, whatever its name, and it is recognized at its first call.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import cache
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import torch

from ..core import frames
from ..core.value_parts import attributes
from .received_gradients import ReceivedGradients

TRIES = 3.0  # calls that gave nothing to anybody, after which a function is let alone
LONE = 1 / 16  # of such a call, where there was nothing below what it was given
_ARITHMETIC = ("__add__", "__mul__", "__matmul__", "__sub__")
_JUMPS = frozenset([*dis.hasjrel, *dis.hasjabs])


@dataclass(eq=False)
class BackwardFunction:
    """A function or method that may run backward; `known` once it has been seen to.

    `undo` restores the function in each place where it was wrapped.
    """

    function: Any
    method: bool
    known: bool = False
    tries: float = TRIES
    undo: list[Callable[[], None]] = field(default_factory=list)

    @property
    def dismissed(self) -> bool:
        """Return True if it turned out not to run backward."""
        return not self.known and self.tries <= 0

    def dismiss(self) -> None:
        """Let the script's own function be called from now on."""
        self.tries = 0
        for put_back in self.undo:
            put_back()
        self.undo.clear()

    def judge(self, received: ReceivedGradients | None, returned: Any) -> bool:
        """Return True if the call that has ended was a backward; `returned`: by what was
        recorded."""
        given = received is not None and (received.any_given() or gives(returned))
        self.known = self.known or given
        self.miss(1 if received is not None else LONE)
        return self.known

    def miss(self, tries: float = LONE) -> None:
        """Record that a call was no backward."""
        self.tries -= tries
        if self.dismissed:
            self.dismiss()


def walkers_of(kind: type, *, alone: bool) -> dict[str, BackwardFunction]:
    """Return a class's methods that may run backward; `alone`: in a module without torch."""
    methods = {name: f for name, f in vars(kind).items() if isinstance(f, FunctionType)}
    if "backward" in methods:
        return {"backward": BackwardFunction(methods["backward"], method=True, known=True)}
    if hasattr(kind, "backward") or not (alone or computes(kind)):
        return {}
    return {
        name: BackwardFunction(function, method=True)
        for name, function in methods.items()
        if name[:2] != "__" and goes_round(function.__code__)
    }


def is_alone(namespace: Mapping[str, Any]) -> bool:
    """Return True if a module uses nothing of torch, so that it differentiates by itself."""
    for value in list(namespace.values()):
        home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
        if isinstance(home, str) and home.partition(".")[0] == "torch":
            return False
    return True


def gives(returned: Any) -> bool:
    """Return True if a function returned numbers for each of some things: a tape's gradients."""
    if isinstance(returned, dict):
        returned = list(returned.values())
    many = returned if isinstance(returned, list | tuple) else [returned]
    return any(isinstance(one, float) or hasattr(one, "__array_interface__") for one in many)


def is_operation(frame: FrameType) -> bool:
    """Return True if a frame's function makes one instance from others and defines its backward."""
    inner = [part for part in frame.f_code.co_consts if isinstance(part, CodeType)]
    return frame.f_code.co_name != "<module>" and any(
        part.co_name == "<lambda>" or part.co_name[:1] != "<" for part in inner
    )


def tapes_of(walker: BackwardFunction, driver: Any) -> Iterator[list[Any]]:
    """Yield lists in which a backward may read a recording: of its object, or of its module."""
    if walker.method:
        held = [value for _, value in attributes(driver)]
    else:
        code, names = walker.function.__code__, walker.function.__globals__
        held = [names.get(name) for name in code.co_names]
    yield from (value for value in held if isinstance(value, list))


def functions_in(namespace: MutableMapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the user's functions in a module that may run backward, by their names."""
    for name, value in list(namespace.items()):
        if (
            isinstance(value, FunctionType)
            and frames.OWNERS[value.__code__.co_filename] is frames.USER
        ):
            if goes_round(value.__code__):
                yield name, value


def computes(kind: type) -> bool:
    """Return True if the class, or a user's base of it, has arithmetic of its own.

    A library's base (torch's `Dataset` can be added) does not count.
    """
    own = (base for base in kind.__mro__ if frames.is_user_class(base))
    return any(
        isinstance(vars(base).get(name), FunctionType) for base in own for name in _ARITHMETIC
    )


def is_foreign(kind: type) -> bool:
    """Return True if it is a class of the user's, and none of torch's at heart."""
    theirs = (torch.autograd.Function, torch.nn.Module, torch.Tensor)
    return not issubclass(kind, theirs) and frames.is_user_class(kind)


@cache
def goes_round(code: CodeType) -> bool:
    """Return True if it loops, or calls itself."""
    back = (i for i in dis.get_instructions(code) if i.opcode in _JUMPS and i.argval <= i.offset)
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    return (
        code.co_name in code.co_names
        or next(back, None) is not None
        or any(goes_round(part) for part in inner)
    )
