"""Record what autograd failed at, and silent faults."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from provenance import BackwardCall, CodeLine, Count, InplaceWrite, Node, Referrer, StaleEdge, Text
from sandbox.records.base import Number, Record

Lines = tuple[Text, Annotated[tuple[Count, ...], Field(max_length=4096)]]
"""A file, and lines of it."""


class Reuse(Record):
    """A second use of freed nodes. `same_root`: the root of the failing call had itself been the
    root of an earlier one.

    `remade`: the failing graph also contains new nodes made at the lines of the reused ones.
    `engine`: `custom` for a hand-written autograd class; then `op` is that class's name.
    """

    t: Literal["reuse"]
    message: Text = ""
    freed: BackwardCall
    reached: BackwardCall
    same_root: bool = False
    remade: bool = False
    stale_edges: Annotated[tuple[StaleEdge, ...], Field(max_length=16)] = ()
    engine: Literal["torch", "custom"] = "torch"
    engine_class: Text = ""


class Inplace(Record):
    """A saved tensor that was changed before the backward that needs it.

    `node` saved it; `holders` name the stale tensor; `changes` are the lines that changed it
    (filled by the slower run). `kind` follows PyTorch's three errors: a stale saved tensor, a
    leaf that requires grad, a view whose base or siblings forbid it.
    """

    t: Literal["inplace"]
    message: Text = ""
    kind: Literal["saved", "leaf", "view"] = "saved"
    reached: BackwardCall | None = None
    at: CodeLine | None = None
    node: Node | None = None
    holders: Annotated[tuple[Referrer, ...], Field(max_length=32)] = ()
    parameter: Text | None = None
    is_parameter: bool = False
    changes: Annotated[tuple[InplaceWrite, ...], Field(max_length=16)] = ()


class Missing(Record):
    """A backward or gradient that found no graph. `ended_at`: where the graph was lost, if seen;
    `ended_stack`: the calls around it, outermost first, where recording was off.

    `how`: item, data, detach, tensor, numpy, no_grad, argmax, leaf, unknown, ...
    """

    t: Literal["missing"]
    message: Text = ""
    at: CodeLine | None = None
    stack: Annotated[tuple[CodeLine, ...], Field(max_length=40)] = ()
    holders: Annotated[tuple[Referrer, ...], Field(max_length=32)] = ()
    ended_at: CodeLine | None = None
    ended_stack: Annotated[tuple[CodeLine, ...], Field(max_length=40)] = ()
    how: Text = "unknown"
    op: Text = ""
    shape: Annotated[tuple[int, ...], Field(max_length=16)] = ()


class Silent(Record):
    """A fault that raised nothing.

    `kind`: growing-graph, reaching-back, overwritten-gradient, uncleared-gradients,
    unfed-parameters, unheld-parameters, cleared-gradients, bootstrap-target, constant-term,
    gradient-read-as-none, unmoved-leaves, unstepped-parameters, wrong-gradients. `figures` is what
    was measured (nodes per backward, gradient norms, ...).
    """

    t: Literal["silent"]
    kind: Text
    at: CodeLine | None = None
    holders: Annotated[tuple[Referrer, ...], Field(max_length=32)] = ()
    params: Annotated[tuple[Text, ...], Field(max_length=64)] = ()
    instead: Annotated[tuple[Text, ...], Field(max_length=64)] = Field(
        (), description="leaves fed in their place"
    )
    uncalled: Annotated[tuple[Text, ...], Field(max_length=64)] = Field(
        (),
        description="of modules that nothing calls: no gradient reached these, too",
    )
    ran: Annotated[tuple[Lines, ...], Field(max_length=4096)] = Field(
        (), description="by file: in an iteration in which these lacked a gradient, if it was seen"
    )
    optimizer_at: CodeLine | None = Field(None, description="where an optimizer got its parameters")
    figures: Annotated[tuple[Number, ...], Field(max_length=64)] = ()
    iterations: Annotated[tuple[Count, ...], Field(max_length=64)] = Field(
        (), description="in which the figures were measured, where not in one after the other"
    )
    counted: Text = Field("", description="what the figures count, where that differs")
    call: BackwardCall | None = None
    detail: Text = ""
    gradient: Text = Field("", description="where leaves of a hand-written engine hold gradients")
    function: Text = Field("", description="of a hand-written engine: what gives a wrong gradient")
    input: Text = Field("", description="the argument of the function that gets it")
    doubtful: bool = Field(False, description="only reading can tell whether it is a fault")
