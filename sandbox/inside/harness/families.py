"""Kinds of autograd errors, so that the error of a harness can be held against the one given."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .plan import Json

_KINDS: tuple[tuple[str, str, str], ...] = (  # kind, family, what the message says
    ("reuse", "graph-reuse", r"second time|have already been freed"),
    ("view", "inplace", r"is a view and|returns multiple views"),
    ("leaf", "inplace", r"leaf variable.*in-place operation|moved into the graph interior"),
    ("saved", "inplace", r"modified by an in-?place operation"),
    ("graphless", "no-grad", r"does not require grad|object has no attribute 'backward'"),
    ("scalar", "no-grad", r"grad can be implicitly created only for scalar"),
    ("unused", "no-grad", r"not (?:have|to have) been used in the graph"),
    ("numpy", "no-grad", r"can't call numpy\(\) on"),
    ("deepcopy", "no-grad", r"created explicitly by the user"),
    ("nonleaf", "no-grad", r"that is not a leaf|non-leaf tensor"),
    ("none", "no-grad", r"'?nonetype'?"),
)


def kind_of(message: str) -> tuple[str, str]:
    """Return the kind of an error and its family; both empty for errors of other kinds."""
    lowered = " ".join(message.lower().replace("’", "'").split())[:2000]
    return next(((k, family) for k, family, said in _KINDS if re.search(said, lowered)), ("", ""))


@dataclass(frozen=True)
class GivenError:
    """The error that was given: its kind and family by its message, and lines of the text that
    its frames named. Empty: none was given."""

    message: str = ""
    family: str = ""
    lines: tuple[int, ...] = ()

    @classmethod
    def from_json(cls, data: Json) -> GivenError:
        lines = tuple(n for n in data.get("lines", ()) if isinstance(n, int))
        return cls(str(data.get("message", "")), str(data.get("family", "")), lines)

    def is_met(self, message: str, lines: tuple[int, int]) -> bool:
        """Return True if an error at a statement (its first and last line) is the one given."""
        kind, family = kind_of(message)
        given, _ = kind_of(self.message)
        same = kind == given if given else bool(family) and family == self.family
        same |= {kind, given} == {"none", "nonleaf"}  # a warning, and what comes of it
        if self.family == "engine":
            same = message == self.message
        placed = not self.lines or any(lines[0] <= line <= lines[1] for line in self.lines)
        return same and placed
