"""The evidence model, the same for all sources: static analysis, a traced run, a traceback.

Lines are 1-based; files are spelled as in the request. `how` says how something is known:
`predicted` by static analysis alone, `observed` in a run, `confirmed` by both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from analyzers.certainty import Basis

How = Literal["predicted", "observed", "confirmed"]
Family = Literal["graph-reuse", "inplace", "no-grad", "silent", "engine", "other"]
Engine = Literal["torch", "custom"]


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the user's code. `frame` identifies the activation of a function (0: unknown).
    `column`: the byte on the line where the executed code begins (-1: unknown); it does not count
    when places are compared.
    """

    file: str
    line: int
    function: str = ""
    frame: int = 0
    column: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class BackwardCall:
    """One call of `backward` or `autograd.grad`; `stack` is outermost first and ends in `at`.

    `later` counts further calls from the same line between this one and the error.
    """

    at: Place
    n: int = 0
    stack: tuple[Place, ...] = ()
    library: tuple[str, ...] = ()
    iteration: int = 1
    kind: Literal["backward", "grad"] = "backward"
    retain: bool = False
    create_graph: bool = False
    root: tuple[str, ...] = ()
    later: int = 0


@dataclass(frozen=True, slots=True)
class Node:
    """An autograd node, by the line that made it; `made_after` counts completed backward calls."""

    op: str
    at: Place | None = None
    library: str | None = None
    made_after: int = 0


@dataclass(frozen=True, slots=True)
class Holder:
    """A name that held the tensor, as the script spells it."""

    path: str
    scope: str = ""
    kind: Literal["local", "global", "attribute", "item", "closure", "unknown"] = "local"
    container: str = "Tensor"
    when: Literal["freed", "now"] = "now"
    frame: int = 0


@dataclass(frozen=True, slots=True)
class ValueShape:
    """The shape of a value. `kind`: tensor, tuple, list, dict, deque, namedtuple, dataclass,
    object, module, number, text, none, function or foreign; `name` is its class.

    `graph`: a tensor that an operation made; `leaf`: one that requires a gradient. `parts` are the
    first entries that it holds, by their keys as Python writes them (`'h'`, `0`; empty: some other
    key).
    """

    kind: str
    name: str = ""
    graph: bool = False
    leaf: bool = False
    frozen: bool = False
    maxlen: bool = False
    size: int = 0
    parts: tuple[tuple[str, ValueShape], ...] = ()


@dataclass(frozen=True, slots=True)
class Binding:
    """A binding: a name that came to hold the carried value, after the statement at `at`.

    `argument`: on entry to the function; `returned`: by the statement, without a name; `outlived`:
    it still held the value right after the call that freed the graph. `name` spells the outermost
    plain structure and `kind` describes it; `paths` lead from it to the tensors, each of them that
    of the join in `carries`. `none_before`: the name was None at first.
    """

    at: Place
    how: Literal["bound", "argument", "returned", "outlived"]
    name: str
    kind: ValueShape
    paths: tuple[str, ...] = ()
    carries: tuple[int, ...] = ()
    none_before: bool = False


@dataclass(frozen=True, slots=True)
class StaleEdge:
    """A stale edge: an edge by which the failing graph enters one that was already used. `stepped`:
    a step has since changed trained parameters before it; `renewed`: the line that made it has made
    another one since. None if neither is known. `rebound`: a leaf that an optimizer holds had the
    carrier's name.
    """

    old: Node
    new: Node | None = None
    raising: Node | None = None
    freed: int = 0
    holders: tuple[Holder, ...] = ()
    shape: tuple[int, ...] = ()
    freed_nodes: int = 0
    stepped: bool | None = None
    renewed: bool | None = None
    rebound: bool = False


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
    joins: tuple[StaleEdge, ...] = ()
    engine: Engine = "torch"
    engine_class: str = ""
    path: tuple[Binding, ...] = ()
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A line that changed a tensor in place."""

    at: Place | None
    op: str = ""
    library: str | None = None
    version: int = 0
    after: int = 0


@dataclass(frozen=True, slots=True)
class InplaceChange:
    """A tensor was changed in place where autograd forbids it or still needs the old value."""

    kind: Literal["saved", "leaf", "view"]
    how: How
    message: str = ""
    reached: BackwardCall | None = None
    at: Place | None = None
    node: Node | None = None
    holders: tuple[Holder, ...] = ()
    parameter: str | None = None
    is_parameter: bool = False
    shape: tuple[int, ...] = ()
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class MissingGraph:
    """A backward, or a gradient, that found no graph. `lost_by` is the op that ended it;
    `ended_stack` leads there from outside where recording was off."""

    how: How
    message: str = ""
    at: Place | None = None
    stack: tuple[Place, ...] = ()
    holders: tuple[Holder, ...] = ()
    ended_at: Place | None = None
    ended_stack: tuple[Place, ...] = ()
    lost_by: str = "unknown"
    op: str = ""
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SilentFault:
    """A fault of the training that raises no error.

    `kind` says what was seen: growing-graph, reaching-back, overwritten-gradient,
    uncleared-gradients, unfed-parameters, unheld-parameters, cleared-gradients, moving-target,
    constant-term, gradient-read-as-none, unmoved-leaves. `doubtful`: only static analysis can
    decide whether it is a fault. `gradient`: the attribute in which leaves of a hand-written engine
    hold gradients. `instead`: leaves that get gradients in place of those that an optimizer took at
    `taken`.
    """

    kind: str
    how: How
    at: Place | None = None
    holders: tuple[Holder, ...] = ()
    params: tuple[str, ...] = ()
    figures: tuple[float, ...] = ()
    visit: BackwardCall | None = None
    detail: str = ""
    gradient: str = ""
    doubtful: bool = False
    instead: tuple[str, ...] = ()
    taken: Place | None = None

    @property
    def engine(self) -> Engine:
        """Return the engine whose graphs are concerned."""
        return "custom" if self.gradient else "torch"

    @property
    def seen_at(self) -> Place | None:
        """Return the line where the fault showed; else that of the backward
        call in which it did.
        """
        return self.at or (self.visit.at if self.visit is not None else None)


@dataclass(frozen=True, slots=True)
class KnownError:
    """An error whose message alone identifies the kind of fault. `entry`: its id in the catalogue
    of messages; `kind`: as there. `names`: what the message names (a parameter, a Function);
    `details`: what a run recorded of it.
    """

    entry: str
    kind: str
    how: How
    message: str = ""
    at: Place | None = None
    stack: tuple[Place, ...] = ()
    names: tuple[str, ...] = ()
    details: str = ""
    holders: tuple[Holder, ...] = ()


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
    backward_lines: tuple[Place, ...] = ()
    suspected: tuple[Evidence, ...] = ()
    basis: Basis = "read"
    sources: frozenset[str] = frozenset()
