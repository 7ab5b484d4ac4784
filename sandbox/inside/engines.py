"""Observes autograd engines that a script writes by hand.

A class of the user that defines `backward` and whose instances hold others of their kind is such
an engine, and so is one with arithmetic of its own and a method that gives gradients to others of
its kind; so is a tape: a class whose `backward` is given an instance of a class with arithmetic,
and a function that gives gradients to instances of one.
The story of a second walk is then told as for torch.
"""

from __future__ import annotations

import builtins
import dis
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import wraps
from types import CodeType, FrameType, FunctionType
from typing import Any

import torch

from . import frames
from .emitter import Emitter
from .frames import Json
from .holders import Search
from .instances import LIMIT, Instances
from .leaf_steps import LeafSteps
from .names import Name
from .parameters import Parameters
from .received import Received
from .rewinding import Rewind, cut_off
from .sampling import sampled
from .stamps import Clock

_builtins: Any = builtins
KEPT = 512
_ARITHMETIC = ("__add__", "__mul__", "__matmul__", "__sub__")


@dataclass
class Walk:
    """One outermost call of an engine's `backward`, with the graph as it stood before it."""

    root: Any
    visit: Json
    nodes: list[Any]
    leaves: frozenset[int] = frozenset()
    names: dict[int, list[Name]] = field(default_factory=dict)
    entered: Any = None
    received: Received | None = None
    rewind: Rewind | None = None


class EngineWatch:
    """Wraps the classes as they are made; emits visits, and the first second walk.

    With a `reference` graphs are put back behind each walk, and for `truncated` what was walked
    before is cut off in front of it. With `steps`, what leaves gather is told.
    """

    def __init__(
        self,
        emitter: Emitter,
        parameters: Parameters,
        steps: LeafSteps | None = None,
        reference: str = "",
    ) -> None:
        self.steps = steps
        self._reference = reference
        self._emitter = emitter
        self._parameters = parameters
        self._instances = Instances()
        self._codes: dict[int, CodeType] = {}  # of their methods, by id: codes are slow to hash
        self._freeing: dict[int, Walk] = {}
        self._per_line: dict[tuple[str, int], int] = {}
        self._walk: Walk | None = None
        self._ids: dict[int, int] = {}  # of leaves, by the number of their making
        self._told = False
        self._armed = False  # once there is a class that can walk, or a function
        self._adopted = (0, 0)  # the globals that were looked through last, and how many there were

    def install(self) -> None:
        """Look at every class that the user's code defines from now on."""
        build: Any = _builtins.__build_class__

        def building(function: Any, name: str, *bases: Any, **more: Any) -> Any:
            made = build(function, name, *bases, **more)
            if isinstance(made, type) and _is_foreign(made):
                self._observe(made)
            return made

        _builtins.__build_class__ = building

    def _observe(self, kind: type) -> None:
        walks = _walking_method(kind)
        if not walks and not _computes(kind):
            return
        self._armed |= bool(walks)
        self._instances.kinds = (*self._instances.kinds, kind)
        methods = [f.__code__ for f in vars(kind).values() if isinstance(f, FunctionType)]
        self._codes |= {id(code): code for code in methods}
        owner: Any = kind
        if "__init__" in vars(kind):
            owner.__init__ = self._making(owner.__init__)
        else:  # a base's, or one that a decorator is about to write
            owner.__new__ = self._allotting(kind.__new__)
        if walks:
            setattr(owner, walks, self._walking(vars(kind)[walks], method=True))

    def _making(self, init: Any) -> Any:
        @wraps(init)
        def wrapper(instance: Any, *args: Any, **kwargs: Any) -> None:
            self._note(instance, sys._getframe(1))
            init(instance, *args, **kwargs)

        return wrapper

    def _allotting(self, new: Any) -> Any:
        @wraps(new)
        def wrapper(kind: type, *args: Any, **kwargs: Any) -> Any:
            plain = new is object.__new__
            instance = new(kind) if plain else new(kind, *args, **kwargs)
            if isinstance(instance, kind):
                self._note(instance, sys._getframe(1))
            return instance

        return staticmethod(wrapper)

    def _adopt(self, frame: FrameType | None) -> None:
        """Wrap the functions beside an engine's class that walk its instances."""
        beside = frame.f_globals if frame is not None else {}
        if self._adopted == (id(beside), len(beside)):
            return
        self._adopted = id(beside), len(beside)
        for name, value in list(beside.items()):
            own = isinstance(value, FunctionType) and value.__globals__ is beside
            if own and _feeds_others(value.__code__):
                beside[name] = self._walking(value, method=False)
                self._armed = True

    def _note(self, instance: Any, frame: FrameType | None) -> None:
        if not self._armed:
            self._adopt(frame)
        if not self._armed or self._instances.of(instance) is not None:
            return
        outside = self._outside(frame)
        maker = frames.user_frame(frame)
        at = frames.place(outside) if outside is not None else None
        op = maker.f_code.co_name if maker is not None and maker is not outside else ""
        self._instances.add(instance, at, op)

    def _outside(self, frame: FrameType | None) -> FrameType | None:
        """The innermost user frame that is no method of an engine; else the outermost method."""
        last = None
        for last in frames.user_frames(frame):
            if id(last.f_code) not in self._codes:
                return last
        return last

    def _walking(self, backward: Any, *, method: bool) -> Any:
        @wraps(backward)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            given = [*args, *kwargs.values()]
            if not method:
                given = [value for value in given if self._instances.of(value) is not None]
            if not given:
                return backward(*args, **kwargs)
            instance, *others = given
            if self._walk is not None:
                self._walk.entered = instance
                return backward(*args, **kwargs)
            root = self._root(instance, others)
            self._walk = self._begin(root, sys._getframe(1))
            self._prepare(self._walk, instance)
            try:
                result = backward(*args, **kwargs)
            except Exception as error:
                self._failed(self._walk, error)
                raise
            finally:
                walk, self._walk = self._walk, None
            self._done(walk)
            return result

        return wrapper

    def _prepare(self, walk: Walk, driver: Any) -> None:
        """Tell what leaves have gathered; for a reference, note the graph, and cut it off from
        its past."""
        if walk.received is None:
            return
        if self.steps is not None:
            self.steps.before()
        if self._reference:
            others = [] if any(node is driver for node in walk.nodes) else [driver]
            walk.rewind = Rewind([*others, *walk.nodes], self._instances.kinds)
        if self._reference == "truncated":
            leaves = [node for node in walk.nodes if id(node) in walk.leaves]
            past = [node for node in walk.nodes if self._instances.visited_by(node)]
            cut_off(past, leaves, self._instances)

    def _root(self, instance: Any, given: Sequence[Any]) -> Any:
        """What is walked: the instance; or, where that only drives, a node that it is given."""
        nodes = [value for value in given if self._instances.of(value) is not None]
        if not nodes or type(nodes[0]) is type(instance):
            return instance
        self._instances.kinds = tuple(k for k in self._instances.kinds if k is not type(instance))
        return nodes[0]

    def _begin(self, root: Any, frame: FrameType | None) -> Walk:
        outside = self._outside(frame)
        stack = frames.stack(outside)
        at: Json = stack[-1] if stack else {"file": "", "line": 0}
        nodes = list(self._instances.below(root))
        names: dict[int, list[Name]] = {}
        if len(nodes) > 1:
            line = (str(at["file"]), int(at["line"]))
            self._per_line[line] = self._per_line.get(line, 0) + 1
            search = Search(lambda value: True, budget=2000, depth=4, kinds=self._instances.kinds)
            for name, value in search.around(outside):
                names.setdefault(id(value), []).append(name)
        visit = {
            "n": Clock.visits + 1,
            "at": at,
            "stack": stack,
            "iteration": self._per_line.get((str(at["file"]), int(at["line"])), 1),
            "kind": "backward",
            "root": [name.path for name in names.get(id(root), [])][:8],
        }
        received = None
        leaves = [node for node in nodes if self._instances.is_leaf(node)]
        if len(nodes) > 1:
            numbered = {self._instances.number(leaf): leaf for leaf in leaves}
            received = Received(self._parameters, self._instances.kinds, numbered, self._ids)
        return Walk(root, visit, nodes, frozenset(map(id, leaves)), names, root, received)

    def _done(self, walk: Walk) -> None:
        """Mark what was walked. A call over a lone instance is no walk over a graph."""
        if len(walk.nodes) < 2:
            return
        n = walk.visit["n"] = Clock.visits + 1
        if walk.rewind is not None and walk.received is not None:
            walk.rewind.back(walk.received.gradients)
        oldest = n - 1
        for instance in walk.nodes:
            made = self._instances.of(instance)
            if made is not None and id(instance) not in walk.leaves:
                oldest = min(oldest, made.after)
                made.visited_by = made.visited_by or n
        if (root := self._instances.of(walk.root)) is not None:
            root.root_of = n
        self._tell(walk, "ok", n - 1 - oldest)
        Clock.visits += 1
        count, walk.nodes, walk.root, walk.received = len(walk.nodes), [], None, None
        self._freeing[n] = walk
        if len(self._freeing) > KEPT or count >= LIMIT:
            del self._freeing[next(iter(self._freeing))]

    def _tell(self, walk: Walk, outcome: str, reach: int) -> None:
        if outcome != "ok" or sampled(walk.visit["n"]):
            received: list[int] = []
            if outcome == "ok" and walk.received is not None:
                fed = walk.received.named(self._outside(sys._getframe(1)))
                received = sorted(fed)
                if self.steps is not None:
                    self.steps.after(walk.visit["at"], walk.visit["n"], walk.received, fed)
                self._parameters.tell()
            self._emitter.emit(
                {
                    "t": "backward",
                    "visit": walk.visit,
                    "outcome": outcome,
                    "nodes": len(walk.nodes),
                    "reach": reach,
                    "received": received,
                }
            )

    def _failed(self, walk: Walk, error: Exception) -> None:
        joins = self._joins(walk)
        if self._told or not joins:
            return
        self._told = True
        first = self._freeing[joins[0]["freed"]]
        root = self._instances.of(walk.root)
        visited, line = self._instances.visited_by, self._instances.line
        lines = [line(node) for node in walk.nodes if not visited(node)]
        reused = [line(node) for node in walk.nodes if visited(node)]
        self._emitter.emit(
            {
                "t": "reuse",
                "message": str(error),
                "freed": first.visit,
                "reached": walk.visit,
                "same_root": root is not None and bool(root.root_of),
                "remade": bool(set(lines) & set(reused) - {None}),
                "new_nodes": len(lines),
                "joins": joins[:16],
                "engine": "custom",
                "engine_class": type(walk.root).__qualname__,
            }
        )
        self._tell(walk, "raised", 0)
        Clock.visits += 1

    def _joins(self, walk: Walk) -> list[Json]:
        """The edges from what is new to what an earlier call walked."""
        visited, node = self._instances.visited_by, self._instances.node
        found = [
            (parent, consumer)
            for consumer in walk.nodes
            if not visited(consumer)
            for parent in self._instances.parents(consumer)
            if visited(parent) in self._freeing
        ]
        if visited(walk.root) in self._freeing:
            found.append((walk.root, None))
        told: dict[tuple[int, int], Json] = {}
        for parent, consumer in found:
            visit = visited(parent)
            now = [name.record("now") for name in walk.names.get(id(parent), [])]
            then = self._freeing[visit].names.get(id(parent), [])
            held = now + [name.record("freed") for name in then]
            told[id(parent), id(consumer)] = {
                "new": node(consumer) if consumer is not None else None,
                "old": node(parent),
                "raising": node(walk.entered),
                "freed": visit,
                "holders": sorted(held, key=lambda h: len(h["path"]))[:32],
                "freed_nodes": sum(1 for instance in walk.nodes if visited(instance)),
            }
        return list(told.values())


def _computes(kind: type) -> bool:
    """Whether the class has arithmetic of its own."""
    return any(isinstance(vars(kind).get(name), FunctionType) for name in _ARITHMETIC)


def _walking_method(kind: type) -> str:
    """The name of the method that walks; empty where there is none."""
    if isinstance(vars(kind).get("backward"), FunctionType):
        return "backward"
    methods = [(name, f) for name, f in vars(kind).items() if isinstance(f, FunctionType)]
    walking = (name for name, f in methods if name[:2] != "__" and _feeds_others(f.__code__))
    return next(walking, "") if _computes(kind) and not hasattr(kind, "backward") else ""


def _feeds_others(code: CodeType, own: str = "") -> bool:
    """Whether a method sets the gradient of an object other than its own, to what it computes."""
    own = own or next(iter(code.co_varnames[: code.co_argcount]), "")
    done = list(dis.get_instructions(code))
    for value, target, store in zip(done, done[1:], done[2:], strict=False):
        if store.opname == "STORE_ATTR" and "grad" in store.argval:
            if value.opname != "LOAD_CONST" and target.argval != own:
                return True
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    return any(_feeds_others(part, own) for part in inner)


def _is_foreign(kind: type) -> bool:
    """Whether it is a class of the user's, and none of torch's at heart."""
    theirs = (torch.autograd.Function, torch.nn.Module, torch.Tensor)
    return not issubclass(kind, theirs) and frames.is_user_class(kind)
