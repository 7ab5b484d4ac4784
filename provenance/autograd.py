"""Define lines of the script, its backward calls, and edges of the autograd graph between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge, Le, MaxLen

from provenance.bounds import Count, Text


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of the user's code. `frame` identifies the activation of a function (0: unknown).
    `column`: the byte on the line where the executed code begins (-1: unknown); it does not count
    when lines are compared.
    """

    file: Text
    line: Count
    function: Text = ""
    frame: Count = 0
    column: Annotated[int, Ge(-1), Le(2**53)] = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class BackwardCall:
    """One call of `backward` or `autograd.grad`.

    `n` counts all such calls of the run from 1 (0: unknown), `iteration` those from this very line.
    `stack` holds the user's frames, outermost first, and ends in `at`. `library` names frames of
    libraries between the user's line and the engine (`optimizer.step` calling a closure, a
    trainer), innermost last. `root`: names that held the tensor that the call began from. `later`
    counts further calls from the same line between this one and the error.
    """

    at: CodeLine
    n: Count = 0
    stack: Annotated[tuple[CodeLine, ...], MaxLen(40)] = ()
    library: Annotated[tuple[Text, ...], MaxLen(12)] = ()
    iteration: Count = 1
    kind: Literal["backward", "grad"] = "backward"
    retain: bool = False
    create_graph: bool = False
    root: Annotated[tuple[Text, ...], MaxLen(8)] = ()
    later: Count = 0


@dataclass(frozen=True, slots=True)
class Node:
    """An autograd node, by the line that made it. `library`: the library frame that did, if any.
    `made_after` counts the backward calls completed before; `number` is the node's sequence number
    in its thread (-1: unknown).
    """

    op: Text
    at: CodeLine | None = None
    library: Text | None = None
    made_after: Count = 0
    number: Annotated[int, Ge(-(2**63)), Le(2**64)] = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class Referrer:
    """A name that held a tensor: `path` as the script spells it (`hidden[0]`, `self.h`).

    `when`: at the freeing call, or at the failing one. `container` is the type of the outermost
    value that the name denotes (`Tensor`, `tuple`, `list`, `dict`, `deque`, class name), with the
    type of its entries if the path goes deeper (`list[tuple]`). `owner` is the class of the object
    whose attribute it is, which calls it `self.…`.
    """

    path: Text
    scope: Text = ""
    kind: Literal["local", "global", "attribute", "item", "closure", "unknown"] = "local"
    container: Text = "Tensor"
    when: Literal["freed", "now"] = "now"
    frame: Count = 0
    owner: Text = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class StaleEdge:
    """An edge by which the failing graph enters one that an earlier backward call used.

    `new` is the node that consumed the carried tensor (None: the root is itself old), `old` the
    node that had produced it as its result number `output`, `raising` the first freed node below.
    `freed`: the `n` of the call that freed it. `stepped`: a step has since changed trained
    parameters that `old` leads to; None if it leads to none, or no step was taken. `renewed`: the
    line that made `old` has made another node since; None if unknown. `rebound`: a holder's name
    was that of a leaf that an optimizer holds.
    """

    old: Node
    new: Node | None = None
    raising: Node | None = None
    freed: Count = 0
    holders: Annotated[tuple[Referrer, ...], MaxLen(32)] = ()
    shape: Annotated[tuple[int, ...], MaxLen(16)] = ()
    stepped: bool | None = None
    renewed: bool | None = None
    rebound: bool = False
    output: Count = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class InplaceWrite:
    """A line that changed a tensor in place, and the op that did it."""

    at: CodeLine | None = None
    op: Text = ""
    library: Text | None = None
    version: Count = 0
    after: Count = 0
