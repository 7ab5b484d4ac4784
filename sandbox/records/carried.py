"""How a carried value went, and what it is made of."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sandbox.records.base import Count, Record, Text
from sandbox.records.places import Place


class Kind(Record):
    """What a value is made of. `kind` is the builtin or torch class it is one of (by subclass too),
    `name` its own class; `graph`: a tensor that an operation made; `leaf`: one that learns.
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
    """A part of a value: its key as Python writes it (`'h'`, `0`; empty where it is neither a
    short text nor a number), and what it is."""

    key: Annotated[str, Field(max_length=80)] = ""
    kind: Kind


class Hop(Record):
    """A name that came to hold what was carried. `at`: the line of its frame that had just run
    (`bound`, `outlived`), the function's own (`argument`), or the return (`returned`).

    `name` spells the outermost plain structure (`self.state`, or nothing for a returned value),
    `kind` says what that is; `paths` lead on to the tensors, each that of a join in `carries`.
    `outlived`: seen right behind the freeing call. `none_before`: it was None at first.
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
    """How a carried value went from its making to where it was used again."""

    t: Literal["path"]
    hops: list[Hop] = Field([], max_length=128)
