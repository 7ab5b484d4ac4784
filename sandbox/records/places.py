"""Record lines of the script, its backward calls, and references to tensors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sandbox.records.base import Count, Record, Text


class Place(Record):
    """A line of the user's code; `frame` identifies the activation of a function. `column`: the
    byte on the line where the executed code begins; -1 if unknown.
    """

    file: Text
    line: Count
    function: Text = ""
    frame: Count = 0
    column: Annotated[int, Field(ge=-1, le=2**53)] = -1


class Visit(Record):
    """One call of `backward` or `autograd.grad`.

    `n` counts all such calls of the run from 1; `iteration` counts those from this very line.
    `stack` holds the user's frames, outermost first; its last entry is `at`.
    `library` names frames of libraries between the user's line and the engine (`optimizer.step`
    calling a closure, a trainer), innermost last.
    """

    n: Count
    at: Place
    stack: list[Place] = Field([], max_length=40)
    library: list[Text] = Field([], max_length=12)
    iteration: Count = 1
    kind: Literal["backward", "grad"] = "backward"
    retain: bool = False
    create_graph: bool = False
    root: list[Text] = Field([], max_length=8, description="names that held this backward's tensor")
    later: Count = Field(0, description="calls from the same line between this one and the error")


class NodeAt(Record):
    """An autograd node. `made_after` counts the backward calls completed when it was made."""

    op: Text
    at: Place | None = None
    library: Text | None = Field(None, description="the library frame that made it, if any")
    made_after: Count = 0
    number: int = Field(-1, ge=-(2**63), le=2**64, description="in the order of making, a thread")


class Holder(Record):
    """A name that held a tensor: `path` as the script spells it (`hidden[0]`, `self.h`).

    `when`: at the freeing call, or at the failing one. `container` is the type of the outermost
    value that the name denotes (`Tensor`, `tuple`, `list`, `dict`, `deque`, class name), with the
    type of its entries if the path goes deeper (`list[tuple]`). `owner` is the class of the object
    whose attribute it is, which calls it `self.…`.
    """

    scope: Text
    path: Text
    kind: Literal["local", "global", "attribute", "item", "closure", "unknown"] = "local"
    container: Text = "Tensor"
    when: Literal["freed", "now"] = "now"
    frame: Count = 0
    owner: Text = ""


class Join(Record):
    """A stale edge: an edge by which the failing graph enters one that an earlier backward call
    used.

    `new` is the node that consumed the carried tensor (None: the root is itself old), `old` the
    node that had produced it, `raising` the first freed node below.
    """

    new: NodeAt | None = None
    old: NodeAt
    raising: NodeAt | None = None
    freed: Count = Field(0, description="`n` of the visit that freed it")
    holders: list[Holder] = Field([], max_length=32)
    output: Count = Field(0, description="which output of `old` was kept")
    shape: list[int] = Field([], max_length=16)
    freed_nodes: Count = 0
    stepped: bool | None = Field(
        None,
        description="whether a step changed trained parameters that `old` leads to since; None "
        "where it leads to none, or no step was taken",
    )
    renewed: bool | None = Field(
        None, description="whether the line that made `old` has made another node since"
    )
    rebound: bool = Field(
        False, description="whether a holder's name was that of a leaf that an optimizer holds"
    )
