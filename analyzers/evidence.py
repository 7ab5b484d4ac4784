"""One body of evidence, whoever the witness: the reading, the traced run, or the traceback.

Lines are 1-based; files are spelled as in the request. `how` says how we know: `predicted` from
reading alone, `observed` in a run, `confirmed` by both.
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
    """A line of the user's code. `frame` tells activations of one function apart (0: unknown).
    `column`: where on the line what ran begins, in bytes (-1: unknown); places of one line are the
    same place all the same."""

    file: str
    line: int
    function: str = ""
    frame: int = 0
    column: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class Visit:
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
class Kind:
    """What a value is made of. `kind`: tensor, tuple, list, dict, deque, namedtuple, dataclass,
    object, module, number, text, none, function or foreign; `name` is its own class.

    `graph`: a tensor that an operation made; `leaf`: one that learns. `parts` are the first of
    what it holds, by their keys as Python writes them (`'h'`, `0`; empty: some other key).
    """

    kind: str
    name: str = ""
    graph: bool = False
    leaf: bool = False
    frozen: bool = False
    maxlen: bool = False
    size: int = 0
    parts: tuple[tuple[str, Kind], ...] = ()


@dataclass(frozen=True, slots=True)
class Hop:
    """A name that came to hold what was carried, behind the statement at `at`.

    `argument`: as the function was entered; `returned`: by the statement, without a name;
    `outlived`: still there right behind the call that freed the graph. `name` spells the outermost
    plain structure and `kind` says what it is; `paths` lead on to the tensors, each that of the
    join in `carries`. `none_before`: the name stood for None at first.
    """

    at: Place
    how: Literal["bound", "argument", "returned", "outlived"]
    name: str
    kind: Kind
    paths: tuple[str, ...] = ()
    carries: tuple[int, ...] = ()
    none_before: bool = False


@dataclass(frozen=True, slots=True)
class Join:
    """An edge by which the failing graph enters one that was already walked. `stepped`: whether
    trained parameters behind it were changed by a step since; `renewed`: whether the line that
    made it has made another one since. None where nothing tells. `rebound`: a leaf that an
    optimizer holds went by the name of what was carried."""

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
    """A backward walked nodes whose saved tensors an earlier backward had freed.

    `path`: where the carried values were seen between their making and the failure, in order.
    `hidden`: the script keeps the graph, so that nothing is raised: it was freed to see this.
    """

    freed: Visit
    reached: Visit
    how: How
    message: str = ""
    same_root: bool = False
    remade: bool = False
    joins: tuple[Join, ...] = ()
    engine: Engine = "torch"
    engine_class: str = ""
    path: tuple[Hop, ...] = ()
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
    reached: Visit | None = None
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
    """Nothing was raised, and training is wrong all the same. `kind` says what
    was seen: growing-graph, reaching-back, overwritten-gradient, uncleared-gradients,
    unfed-parameters, unheld-parameters, cleared-gradients, moving-target, constant-term,
    gradient-read-as-none, unmoved-leaves. `doubtful`: only reading can tell whether it is a fault.
    `gradient`: the attribute in which leaves of a hand-written engine hold gradients.
    `instead`: leaves that get gradients where those that an optimizer took at `taken` get none."""

    kind: str
    how: How
    at: Place | None = None
    holders: tuple[Holder, ...] = ()
    params: tuple[str, ...] = ()
    figures: tuple[float, ...] = ()
    visit: Visit | None = None
    detail: str = ""
    gradient: str = ""
    doubtful: bool = False
    instead: tuple[str, ...] = ()
    taken: Place | None = None

    @property
    def engine(self) -> Engine:
        """Whose graphs were walked."""
        return "custom" if self.gradient else "torch"

    @property
    def seen_at(self) -> Place | None:
        """The line where the fault showed; else that of the backward in which it did."""
        return self.at or (self.visit.at if self.visit is not None else None)


@dataclass(frozen=True, slots=True)
class KnownError:
    """An error whose message alone says what kind of fault it is. `entry`: its id in the catalogue
    of messages; `kind`: as there. `names`: what the message names (a parameter, a Function);
    `details`: what a run saw of it."""

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
    """What reading found. `incomplete` lists what was not followed, and why. `suspected`:
    what would explain the error that was given, where nothing in `evidence` does. `basis`: how
    what was found is known. `sources`: what walks reach that learns, as the script calls it:
    models, layers, leaves."""

    evidence: tuple[Evidence, ...] = ()
    incomplete: tuple[str, ...] = ()
    backward_lines: tuple[Place, ...] = ()
    suspected: tuple[Evidence, ...] = ()
    basis: Basis = "read"
    sources: frozenset[str] = frozenset()
