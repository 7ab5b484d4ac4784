"""What may walk the graphs of a hand-written engine.

A method called `backward` does. So does whatever else goes round (a loop, or a call of itself),
is given an instance, and leaves other numbers than zeros in what that was made from: that is what
a walk is, whatever it is called, and it is seen when it is called for the first time.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, field
from functools import cache
from types import CodeType, FunctionType
from typing import Any

import torch

from . import frames
from .received import Received

TRIES = 3  # calls that gave nothing to anybody, after which a function is let alone
_ARITHMETIC = ("__add__", "__mul__", "__matmul__", "__sub__")
_JUMPS = frozenset([*dis.hasjrel, *dis.hasjabs])


@dataclass(eq=False)
class Walker:
    """A function or method that may walk; `known` once it has been seen to.

    `undo` puts the function back in each place where it was wrapped.
    """

    function: Any
    method: bool
    known: bool = False
    tries: int = TRIES
    undo: list[Callable[[], None]] = field(default_factory=list)

    @property
    def dismissed(self) -> bool:
        """Whether it turned out to be no walker."""
        return not self.known and self.tries <= 0

    def dismiss(self) -> None:
        """Let the script's own function be called from now on."""
        self.tries = 0
        for put_back in self.undo:
            put_back()
        self.undo.clear()

    def judge(self, received: Received | None) -> bool:
        """Whether the call that has ended was a walk."""
        self.known = self.known or (received is not None and received.any_given())
        if not self.known and received is not None:
            self.tries -= 1
            if self.dismissed:
                self.dismiss()
        return self.known


def walkers_of(kind: type) -> dict[str, Walker]:
    """The methods of a class that walk, or may."""
    methods = {name: f for name, f in vars(kind).items() if isinstance(f, FunctionType)}
    if "backward" in methods:
        return {"backward": Walker(methods["backward"], method=True, known=True)}
    if hasattr(kind, "backward") or not computes(kind):
        return {}
    return {
        name: Walker(function, method=True)
        for name, function in methods.items()
        if name[:2] != "__" and goes_round(function.__code__)
    }


def functions_in(namespace: MutableMapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The user's functions that a module knows and that may walk, by their names."""
    for name, value in list(namespace.items()):
        if (
            isinstance(value, FunctionType)
            and frames.OWNERS[value.__code__.co_filename] is frames.USER
        ):
            if goes_round(value.__code__):
                yield name, value


def computes(kind: type) -> bool:
    """Whether the class has arithmetic of its own."""
    return any(isinstance(vars(kind).get(name), FunctionType) for name in _ARITHMETIC)


def is_foreign(kind: type) -> bool:
    """Whether it is a class of the user's, and none of torch's at heart."""
    theirs = (torch.autograd.Function, torch.nn.Module, torch.Tensor)
    return not issubclass(kind, theirs) and frames.is_user_class(kind)


@cache
def goes_round(code: CodeType) -> bool:
    """Whether it loops, or calls itself."""
    back = (i for i in dis.get_instructions(code) if i.opcode in _JUMPS and i.argval <= i.offset)
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    return (
        code.co_name in code.co_names
        or next(back, None) is not None
        or any(goes_round(part) for part in inner)
    )
