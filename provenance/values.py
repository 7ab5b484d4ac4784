"""Define the shapes of values, and the names that came to hold a carried one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from annotated_types import MaxLen

from provenance.autograd import CodeLine
from provenance.bounds import Count, Text

ValueKind = Literal[
    "tensor",
    "tuple",
    "list",
    "dict",
    "deque",
    "namedtuple",
    "dataclass",
    "object",
    "module",
    "number",
    "text",
    "none",
    "function",
    "foreign",
    "record",
]
"""A builtin or torch class, by subclass too; `foreign`: none of these. `record`: something with
fields, of which static analysis knows no more."""


@dataclass(frozen=True, slots=True)
class ValueShape:
    """The shape of a value. `name` is its own class; `graph`: a tensor that an operation made;
    `leaf`: one that requires a gradient. `parts` are the first entries that it holds.
    """

    kind: ValueKind
    name: Text = ""
    graph: bool = False
    leaf: bool = False
    frozen: bool = False
    maxlen: bool = False
    size: Count = 0
    parts: Annotated[tuple[ValuePart, ...], MaxLen(18)] = ()

    def items(self) -> tuple[tuple[str, ValueShape], ...]:
        """Return the parts as pairs of key and shape."""
        return tuple((part.key, part.kind) for part in self.parts)

    def cut_below(self, depth: int) -> ValueShape:
        """Return the shape without what lies more than so many levels below."""
        if not depth:
            return replace(self, parts=())
        parts = (ValuePart(part.kind.cut_below(depth - 1), part.key) for part in self.parts)
        return replace(self, parts=tuple(parts))


@dataclass(frozen=True, slots=True)
class ValuePart:
    """A part of a value: its shape, and its key as Python writes it (`'h'`, `0`; empty if it is
    neither a short string nor a number).
    """

    kind: ValueShape
    key: Annotated[str, MaxLen(80)] = ""


@dataclass(frozen=True, slots=True)
class Binding:
    """A name that came to hold the carried value.

    `at`: the line of its frame that had just run (`bound`), or right after which it still held the
    value although the call freed the graph (`outlived`), the function's own (`argument`), or the
    return (`returned`, without a name). `name` spells the outermost plain structure (`self.state`)
    and `kind` describes it; `paths` lead from it to the tensors, each of them that of a stale edge
    in `carries`. `none_before`: the name was None at first.
    """

    at: CodeLine
    how: Literal["bound", "argument", "returned", "outlived"]
    kind: ValueShape
    name: Text = ""
    paths: Annotated[tuple[Text, ...], MaxLen(16)] = ()
    carries: Annotated[tuple[Count, ...], MaxLen(16)] = ()
    none_before: bool = False
