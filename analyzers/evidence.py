"""The evidence model, the same for all sources: static analysis, a traced run, a traceback.

Lines are 1-based; files are spelled as in the request. `how` says how something is known:
`predicted` by static analysis alone, `observed` in a run, `confirmed` by both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from analyzers.certainty import Basis
from provenance import BackwardCall, Binding, CodeLine, InplaceWrite, Node, Referrer, StaleEdge

How = Literal["predicted", "observed", "confirmed"]
Family = Literal["graph-reuse", "inplace", "no-grad", "silent", "engine", "other"]
Engine = Literal["torch", "custom"]


@dataclass(frozen=True, slots=True)
class GraphReuse:
    """A backward call reached nodes whose saved tensors an earlier backward call had freed.

    `path`: where the carried values were seen between their definition and the failure, in order.
    `hidden`: the script retains the graph, so nothing was raised; the graph was freed to show this.
    """

    freed: BackwardCall
    reached: BackwardCall
    how: How
    message: str = ""
    same_root: bool = False
    remade: bool = False
    stale_edges: tuple[StaleEdge, ...] = ()
    engine: Engine = "torch"
    engine_class: str = ""
    path: tuple[Binding, ...] = ()
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class InplaceChange:
    """A tensor was changed in place where autograd forbids it or still needs the old value."""

    kind: Literal["saved", "leaf", "view"]
    how: How
    message: str = ""
    reached: BackwardCall | None = None
    at: CodeLine | None = None
    node: Node | None = None
    holders: tuple[Referrer, ...] = ()
    parameter: str | None = None
    is_parameter: bool = False
    changes: tuple[InplaceWrite, ...] = ()


@dataclass(frozen=True, slots=True)
class MissingGraph:
    """A backward, or a gradient, that found no graph. `lost_by` is the op that ended it;
    `ended_stack` leads there from outside where recording was off."""

    how: How
    message: str = ""
    at: CodeLine | None = None
    stack: tuple[CodeLine, ...] = ()
    holders: tuple[Referrer, ...] = ()
    ended_at: CodeLine | None = None
    ended_stack: tuple[CodeLine, ...] = ()
    lost_by: str = "unknown"
    op: str = ""
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SilentFault:
    """A fault of the training that raises no error.

    `kind` says what was seen: growing-graph, reaching-back, overwritten-gradient,
    uncleared-gradients, unfed-parameters, unheld-parameters, cleared-gradients, bootstrap-target,
    constant-term, gradient-read-as-none, unmoved-leaves, unstepped-parameters, wrong-gradients.
    `doubtful`: only static analysis can decide whether it is a fault. `gradient`: the attribute in
    which leaves of a hand-written engine hold gradients; `function`: what gives its argument
    `input` a wrong one. `figures` were measured in these `iterations`, or in one after the other,
    and count what `counted` says. `instead`: leaves that get gradients in place of those that an
    optimizer took at `optimizer_at`. `ran`: the lines of each file that ran in an iteration of the
    fault; empty if that was not seen.
    """

    kind: str
    how: How
    at: CodeLine | None = None
    holders: tuple[Referrer, ...] = ()
    params: tuple[str, ...] = ()
    figures: tuple[float, ...] = ()
    iterations: tuple[int, ...] = ()
    counted: str = ""
    call: BackwardCall | None = None
    detail: str = ""
    gradient: str = ""
    function: str = ""
    input: str = ""
    doubtful: bool = False
    instead: tuple[str, ...] = ()
    optimizer_at: CodeLine | None = None
    ran: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @property
    def engine(self) -> Engine:
        """Return the engine whose graphs are concerned."""
        return "custom" if self.gradient or self.kind == "wrong-gradients" else "torch"

    @property
    def seen_at(self) -> CodeLine | None:
        """Return the line where the fault showed; else that of the backward
        call in which it did.
        """
        return self.at or (self.call.at if self.call is not None else None)


@dataclass(frozen=True, slots=True)
class KnownError:
    """An error whose message alone identifies the kind of fault. `entry`: its id in the catalogue
    of messages; `kind`: as there. `names`: what the message names (a parameter, a Function);
    `details`: what a run recorded of it; `through`: the libraries' frames of its traceback.
    """

    entry: str
    kind: str
    how: How
    message: str = ""
    at: CodeLine | None = None
    stack: tuple[CodeLine, ...] = ()
    names: tuple[str, ...] = ()
    details: str = ""
    holders: tuple[Referrer, ...] = ()
    through: tuple[CodeLine, ...] = ()


Evidence = GraphReuse | InplaceChange | MissingGraph | SilentFault | KnownError


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of static analysis. `incomplete` lists what was not followed, and why.
    `suspected`: what would explain the given error if nothing in `evidence` does. `basis`: how the
    evidence is known. `sources`: the models, layers and leaves that backward calls reach, as the
    script names them.
    """

    evidence: tuple[Evidence, ...] = ()
    incomplete: tuple[str, ...] = ()
    backward_lines: tuple[CodeLine, ...] = ()
    suspected: tuple[Evidence, ...] = ()
    basis: Basis = "read"
    sources: frozenset[str] = frozenset()
