"""Says what was put in the place of what a text leaves out, each once, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

import torch

from .models import Optimizer

Tell = Callable[[str, str, str], None]
_WORDS = {
    "module": "a small model was put in its place",
    "criterion": "a small function that gives one number was put in its place",
    "function": "a small function of the tensors that it is given was put in its place",
    "maker": "a stand-in that makes what is used after it was put in its place",
    "values": "it was taken for the class of the engine's values, which raise the error given",
    "optimizer": "a plain gradient descent over {over} was put in its place",
    "weights": "two small parameters were put in its place",
    "loss": "it was taken for a loss of the models in sight",
    "tensor": "a tensor of shape {shape} was put in its place",
    "mask": "a mask of shape {shape} was put in its place",
    "leaf": "a tensor of shape {shape} that requires grad was put in its place",
    "result": "a tensor of shape {shape} that the models in sight make was put in its place",
    "batches": "{count} batches were put in its place",
    "number": "{value} was taken",
    "count": "{value} was taken",
    "sizes": "{value} was taken",
    "words": "{value} was taken",
    "file": "it was taken for a file's name",
    "table": "a table with the columns that the text reads was put in its place",
    "list": "an empty list was taken",
    "zero": "0 was taken",
    "flag": "{value} was taken",
    "device": "the CPU was taken",
    "holder": "its attributes were made up as they are asked for",
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
            self._tell("api", name, f"`{name}` of Python 2 was taken as `{part}`.")
        else:
            self._tell("import", name, f"`{line}` was added.")

    def own(self, path: str, thing: Any) -> None:
        """Report that a name denotes an object of one of the script's classes."""
        name, kind = spelling(path), type(thing).__name__
        self._tell("name", name, f"`{name}` is not in the text: an object of `{kind}` was made.")

    def note(self, path: str, kind: str, made: Any) -> None:
        """Report what replaces a name; its parts are reported with it."""
        if path in self._reported or not self._is_reportable(path):
            return
        self._reported.add(path)
        has_graph = isinstance(made, torch.Tensor) and made.grad_fn is not None
        words = _WORDS["result" if kind == "tensor" and has_graph else kind]
        if isinstance(made, tuple) and kind != "sizes":
            words = f"{len(made)} values were put in its place"
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
            self._tell("name", name, f"`{name}` of `{function}` is not given in the text: {said}.")
        else:
            name = spelling(path)
            why = (
                "is not in the files that were sent"
                if name in self.left_out
                else "is not in the text"
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
