"""Record the path of a carried value and its shape."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sandbox.records.base import Count, Record, Text
from sandbox.records.places import Place


class Kind(Record):
    """The shape of a value. `kind` is its builtin or torch class (by subclass too), `name` its own
    class; `graph`: a tensor that an operation made; `leaf`: one that requires a gradient.
    """

    kind: Literal[
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
    ]
    name: Text = ""
    graph: bool = False
    leaf: bool = False
    frozen: bool = False
    maxlen: bool = False
    size: Count = 0
    parts: list[Part] = Field([], max_length=18)


class Part(Record):
    """A part of a value: its key as Python writes it (`'h'`, `0`; empty if it is neither a short
    string nor a number), and its shape.
    """

    key: Annotated[str, Field(max_length=80)] = ""
    kind: Kind


class Hop(Record):
    """A binding: a name that came to hold the carried value. `at`: the line of its frame that had
    just run (`bound`, `outlived`), the function's own (`argument`), or the return (`returned`).

    `name` spells the outermost plain structure (`self.state`; empty for a returned value), `kind`
    describes it; `paths` lead from it to the tensors, each of them that of a join in `carries`.
    `outlived`: seen right after the freeing call. `none_before`: it was None at first.
    """

    at: Place
    how: Literal["bound", "argument", "returned", "outlived"]
    name: Text = ""
    paths: list[Text] = Field([], max_length=16)
    carries: list[Count] = Field([], max_length=16)
    after: Count = 0
    none_before: bool = False
    kind: Kind


class Path(Record):
    """The path of a carried value from its definition to its second use."""

    t: Literal["path"]
    hops: list[Hop] = Field([], max_length=128)
