"""The autograd graph of values: nodes, the memory that they saved, the names that held them."""

from __future__ import annotations

from dataclasses import dataclass, field

from provenance import BackwardCall, CodeLine


@dataclass(slots=True)
class NameBinding:
    """A name that took on a value: `log` holds the moments at which it was bound, `moment` is
    the one of this value."""

    path: str
    scope: str
    kind: str
    container: str
    frame: int
    log: list[int]
    moment: int

    def end(self) -> float:
        """Return the moment at which the name is rebound; infinity while it is not."""
        later = [m for m in self.log[-64:] if m > self.moment]
        return later[0] if later else float("inf")

    def last_part(self) -> str:
        """Return the last part of the path: `h` for `self.h[0]`."""
        return self.path.partition("[")[0].rpartition(".")[2]

    def within(self, key: object, container: str) -> NameBinding:
        """Return the binding of a part, named through its container."""
        outer = self.container if self.container != "Tensor" else container
        return self._as(f"{self.path}[{key!r}]", self.kind, outer)

    def member(self, attribute: str) -> NameBinding:
        """Return the binding of an attribute, named through its object."""
        return self._as(f"{self.path}.{attribute}", "attribute", self.container)

    def _as(self, path: str, kind: str, container: str) -> NameBinding:
        return NameBinding(path, self.scope, kind, container, self.frame, self.log, self.moment)


class Storage:
    """The memory of a tensor and its views, with a version that in-place writes raise."""

    __slots__ = ("change", "leaf", "names", "version")

    def __init__(self, leaf: TapeNode | None = None) -> None:
        self.version = 0
        self.change: tuple[CodeLine, str] | None = None
        self.leaf = leaf
        self.names: list[NameBinding] = []


class TapeNode:
    """An autograd node: the line that made it, its inputs, and what became of it.

    `strong`: its graph certainly reaches a parameter. `freed`: the backward call that freed it.
    `saved`: the memory that it saved, with the version at that moment. `read`: the name by which
    the script last read its tensor; `reads`: those of the inputs when this node was made, at the
    moment `born`. `lazy`: it denotes whatever made an unknown value. `ended`: graphs that had ended
    already, among the inputs.
    """

    freed: Traversal | None = None
    leaf = False
    trainable = True
    engine = ""
    times_reached = 0
    lazy = False
    read = ""
    ended: tuple[Lost, ...] = ()

    def __init__(
        self,
        op: str,
        at: CodeLine,
        parents: tuple[TapeNode, ...],
        saves: bool | None,
        made_after: int,
        born: int,
    ) -> None:
        self.op = op
        self.at = at
        self.parents = parents
        self.saves = saves
        self.made_after = made_after
        self.born = born
        self.strong: bool = True in [parent.strong for parent in parents]
        self.reads = tuple([parent.read for parent in parents])
        self.names: list[NameBinding] = []
        self.saved: list[tuple[Storage, int]] = []


@dataclass(slots=True, eq=False)
class Lost:
    """Where a value's graph ended, and by what. `cut`: the nodes that were cut off there;
    `before`: what had ended earlier, among what the value was computed from; `stack`: the calls
    around it, outermost first, where recording was off."""

    op: str
    at: CodeLine
    cut: tuple[TapeNode, ...] = ()
    before: tuple[Lost, ...] = ()
    stack: tuple[CodeLine, ...] = ()


@dataclass(slots=True, eq=False)
class Traversal:
    """One `backward` or `grad` call. `reach`: of how many earlier passes it meets nodes again;
    it grows where a graph leaks."""

    call: BackwardCall
    moment: int
    keeps: bool
    reach: int = 0
    leaves: set[TapeNode] = field(default_factory=set)
    roots: tuple[TapeNode, ...] = ()


@dataclass(slots=True)
class Reached:
    """What one traversal of a graph met. `stale_edges`: edges into freed nodes; `entered`: the
    consumer through which each live node was first reached."""

    live: list[TapeNode] = field(default_factory=list)
    stale_edges: list[tuple[TapeNode | None, TapeNode]] = field(default_factory=list)
    entered: dict[TapeNode, TapeNode | None] = field(default_factory=dict)
    leaves: set[TapeNode] = field(default_factory=set)
    complete: bool = True
