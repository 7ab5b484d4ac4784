"""Say what replaces what a script leaves out, each once, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

import torch

from .models import Optimizer

Tell = Callable[[str, str, str], None]
_WORDS = {
    "module": "a small model was used instead",
    "criterion": "a function that returns one number was used instead",
    "function": "a small function of its tensors was used instead",
    "maker": "a stub replaced it",
    "values": "it was treated as the class of the engine's values, which raise the given error",
    "optimizer": "plain gradient descent over {over} was used instead",
    "weights": "two small parameters were used instead",
    "loss": "it was treated as a loss of the script's models",
    "tensor": "a tensor of shape {shape} was used instead",
    "mask": "a mask of shape {shape} was used instead",
    "leaf": "a tensor of shape {shape} that requires grad was used instead",
    "result": "an output of shape {shape} of the script's models was used instead",
    "batches": "{count} random batches were used instead",
    "number": "the value {value} was used",
    "count": "the value {value} was used",
    "sizes": "the value {value} was used",
    "words": "the value `{value}` was used",
    "file": "it was treated as the name of a file",
    "table": "a table with the columns that the script reads was used instead",
    "list": "an empty list was used",
    "zero": "the value 0 was used",
    "flag": "the value {value} was used",
    "device": "the CPU was used",
    "holder": "an object whose attributes are synthesized as they are read was used instead",
}


class AssumptionLog:
    """Reports assumptions by `tell(kind, name, text)`.

    `functions` are those of the script, `left_out` names that it imports from missing packages.
    """

    left_out: Container[str] = ()

    def __init__(self, tell: Tell, functions: Container[str]) -> None:
        self._tell = tell
        self._functions = functions
        self._reported: set[str] = set()

    def imported(self, name: str, place: str, part: str) -> None:
        """Say that a usual import was added."""
        line = f"from {place} import {part}" if part else f"import {place}"
        if name not in (part, place):
            line += f" as {name}"
        if name == "xrange" or name == "unicode":
            self._tell("api", name, f"`{name}` of Python 2 was read as `{part}`.")
        else:
            self._tell("import", name, f"`{line}` was added.")

    def own(self, path: str, thing: Any) -> None:
        """Report that a name denotes an object of one of the script's classes."""
        name, kind = spelling(path), type(thing).__name__
        self._tell("name", name, f"`{name}` is not in the script: a new `{kind}` was used instead.")

    def note(self, path: str, kind: str, made: Any) -> None:
        """Report what replaces a name; its parts are reported with it."""
        if path in self._reported or not self._is_reportable(path):
            return
        self._reported.add(path)
        has_graph = isinstance(made, torch.Tensor) and made.grad_fn is not None
        words = _WORDS["result" if kind == "tensor" and has_graph else kind]
        if isinstance(made, tuple) and kind != "sizes":
            words = f"{len(made)} values were used instead"
        shape = list(made.shape) if isinstance(made, torch.Tensor) else ""
        count = len(made) if isinstance(made, list) else 0
        said = words.format(
            shape=shape,
            value=made,
            over=made.over if isinstance(made, Optimizer) else "",
            count="eight" if count == 8 else count,
        )
        home, _, name = path.rpartition(".")
        if home in self._functions:
            function = home.rpartition(".")[2] if "__init__" not in home else home
            self._tell(
                "name", name, f"`{name}` of `{function}` is not given in the script: {said}."
            )
        else:
            name = spelling(path)
            why = (
                "is not in the files that were sent"
                if name in self.left_out
                else "is not in the script"
            )
            self._tell("name", name, f"`{name}` {why}: {said}.")

    def _is_reportable(self, path: str) -> bool:
        home = path.rpartition(".")[0]
        own = not home or home.endswith("self") or home in self._functions
        return own and not any(mark in path for mark in "[( ")


def spelling(path: str) -> str:
    """Return a path as the script writes it: `self.opt` of `Trainer.self.opt`; `x` of `train.x`."""
    before, found, rest = path.partition(".self.")
    if found and "(" not in before:
        return f"self.{rest}"
    return path
