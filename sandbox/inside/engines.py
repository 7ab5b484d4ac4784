"""Observes autograd engines that a script writes by hand.

A class of the user that defines `backward` and whose instances hold others of their kind is such
an engine: the instances held since before one was made are its parents, whatever the attribute
is called. The story of a second walk is then told as for torch.
"""

from __future__ import annotations

import builtins
import itertools
import sys
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import wraps
from types import CodeType, FrameType, FunctionType
from typing import Any

import torch

from . import frames
from .emitter import Emitter
from .frames import Json
from .holders import Name, Search, attributes
from .parameters import Parameters
from .received import Received
from .sampling import sampled
from .stamps import Clock

_builtins: Any = builtins
KEPT = 512
_LIMIT = 100_000


@dataclass
class Made:
    """What is known of one instance: when and where it was made, who walked it."""

    number: int
    after: int
    at: Json | None
    op: str
    visited_by: int = 0
    root_of: int = 0
    reference: Any = None  # keeps its end noticed; strong where it cannot be weak


@dataclass
class Walk:
    """One outermost call of an engine's `backward`."""

    root: Any
    visit: Json
    nodes: list[Any]
    names: dict[int, list[Name]] = field(default_factory=dict)
    entered: Any = None
    received: Received | None = None


class EngineWatch:
    """Wraps the classes as they are made; emits visits, and the first second walk."""

    def __init__(self, emitter: Emitter, parameters: Parameters) -> None:
        self._emitter = emitter
        self._parameters = parameters
        self._made: dict[int, Made] = {}
        self._numbers = itertools.count(1)
        self._kinds: tuple[type, ...] = ()
        self._codes: set[CodeType] = set()
        self._freeing: dict[int, Walk] = {}
        self._per_line: dict[tuple[str, int], int] = {}
        self._walk: Walk | None = None
        self._ids: dict[int, int] = {}  # of leaves, by the number of their making
        self._told = False

    def install(self) -> None:
        """Look at every class that the user's code defines from now on."""
        build: Any = _builtins.__build_class__

        def building(function: Any, name: str, *bases: Any, **more: Any) -> Any:
            made = build(function, name, *bases, **more)
            if isinstance(made, type) and _may_be_engine(made):
                self._observe(made)
            return made

        _builtins.__build_class__ = building

    def _observe(self, kind: type) -> None:
        self._kinds = (*self._kinds, kind)
        self._codes |= {f.__code__ for f in vars(kind).values() if isinstance(f, FunctionType)}
        owner: Any = kind
        if "__init__" in vars(kind):
            owner.__init__ = self._making(owner.__init__)
        else:  # a base's, or one that a decorator is about to write
            owner.__new__ = self._allotting(kind.__new__)
        owner.backward = self._walking(owner.backward)

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

    def _note(self, instance: Any, frame: FrameType | None) -> None:
        if id(instance) in self._made:
            return
        if not isinstance(instance, self._kinds):  # a decorator made the class anew
            self._kinds = (*self._kinds, type(instance))
        outside = self._outside(frame)
        maker = frames.user_frame(frame)
        made = Made(
            number=next(self._numbers),
            after=Clock.visits,
            at=frames.place(outside) if outside is not None else None,
            op=maker.f_code.co_name if maker is not None and maker is not outside else "",
        )
        key = id(instance)
        try:
            made.reference = weakref.ref(instance, lambda _: self._made.pop(key, None))
        except TypeError:
            made.reference = instance
        self._made[key] = made

    def _outside(self, frame: FrameType | None) -> FrameType | None:
        """The innermost user frame that is no method of an engine; else the outermost method."""
        last = None
        for last in frames.user_frames(frame):
            if last.f_code not in self._codes:
                return last
        return last

    def _walking(self, backward: Any) -> Any:
        @wraps(backward)
        def wrapper(instance: Any, *args: Any, **kwargs: Any) -> Any:
            if self._walk is not None:
                self._walk.entered = instance
                return backward(instance, *args, **kwargs)
            self._walk = self._begin(instance, sys._getframe(1))
            try:
                result = backward(instance, *args, **kwargs)
            except Exception as error:
                self._failed(self._walk, error)
                raise
            finally:
                walk, self._walk = self._walk, None
            self._done(walk)
            return result

        return wrapper

    def _begin(self, root: Any, frame: FrameType | None) -> Walk:
        outside = self._outside(frame)
        stack = frames.stack(outside)
        at: Json = stack[-1] if stack else {"file": "", "line": 0}
        nodes = list(self._below(root))
        names: dict[int, list[Name]] = {}
        if len(nodes) > 1:
            line = (str(at["file"]), int(at["line"]))
            self._per_line[line] = self._per_line.get(line, 0) + 1
            search = Search(lambda value: True, budget=2000, depth=4, kinds=self._kinds)
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
        leaves = [node for node in nodes if not any(True for _ in self._parents(node))]
        leaves.sort(key=self._number)
        received = None
        if len(nodes) > 1:
            numbered = {self._number(leaf): leaf for leaf in leaves}
            received = Received(self._parameters, self._kinds, numbered, self._ids)
        return Walk(root, visit, nodes, names, root, received)

    def _number(self, instance: Any) -> int:
        made = self._made.get(id(instance))
        return made.number if made is not None else 0

    def _parents(self, instance: Any) -> Iterator[Any]:
        """Instances of its kind that it holds and that are older than it."""
        own = self._made.get(id(instance))
        for _, value in attributes(instance):
            held = value.values() if isinstance(value, dict) else value
            for item in (
                held if isinstance(held, list | tuple | set | type({}.values())) else [held]
            ):
                known = self._made.get(id(item)) if isinstance(item, self._kinds) else None
                if known is not None and own is not None and known.number < own.number:
                    yield item

    def _below(self, root: Any) -> Iterator[Any]:
        """The instance and everything it was made from, each once."""
        seen, pending = {id(root)}, [root]
        while pending and len(seen) < _LIMIT:
            instance = pending.pop()
            yield instance
            for parent in self._parents(instance):
                if id(parent) not in seen:
                    seen.add(id(parent))
                    pending.append(parent)

    def _done(self, walk: Walk) -> None:
        """Mark what was walked. A call over a lone instance is no walk over a graph."""
        if len(walk.nodes) < 2:
            return
        n = walk.visit["n"] = Clock.visits + 1
        oldest = n - 1
        for instance in walk.nodes:
            made = self._made.get(id(instance))
            if made is not None and any(True for _ in self._parents(instance)):
                oldest = min(oldest, made.after)
                made.visited_by = made.visited_by or n
        if (root := self._made.get(id(walk.root))) is not None:
            root.root_of = n
        self._tell(walk, "ok", n - 1 - oldest)
        Clock.visits += 1
        count, walk.nodes, walk.root, walk.received = len(walk.nodes), [], None, None
        self._freeing[n] = walk
        if len(self._freeing) > KEPT or count >= _LIMIT:
            del self._freeing[next(iter(self._freeing))]

    def _tell(self, walk: Walk, outcome: str, reach: int) -> None:
        if outcome != "ok" or sampled(walk.visit["n"]):
            received: list[int] = []
            if outcome == "ok" and walk.received is not None:
                received = walk.received.ids(self._outside(sys._getframe(1)))
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
        root = self._made.get(id(walk.root))
        lines = [self._line(node) for node in walk.nodes if not self._visited(node)]
        reused = [self._line(node) for node in walk.nodes if self._visited(node)]
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

    def _visited(self, instance: Any) -> int:
        made = self._made.get(id(instance))
        return made.visited_by if made is not None else 0

    def _line(self, instance: Any) -> tuple[str, int] | None:
        made = self._made.get(id(instance))
        return (made.at["file"], made.at["line"]) if made is not None and made.at else None

    def _joins(self, walk: Walk) -> list[Json]:
        """The edges from what is new to what an earlier call walked."""
        found = [
            (parent, consumer)
            for consumer in walk.nodes
            if not self._visited(consumer)
            for parent in self._parents(consumer)
            if self._visited(parent) in self._freeing
        ]
        if self._visited(walk.root) in self._freeing:
            found.append((walk.root, None))
        told: dict[tuple[int, int], Json] = {}
        for parent, consumer in found:
            visit = self._visited(parent)
            now = [name.record("now") for name in walk.names.get(id(parent), [])]
            then = self._freeing[visit].names.get(id(parent), [])
            held = now + [name.record("freed") for name in then]
            told[id(parent), id(consumer)] = {
                "new": self._node(consumer) if consumer is not None else None,
                "old": self._node(parent),
                "raising": self._node(walk.entered),
                "freed": visit,
                "holders": sorted(held, key=lambda h: len(h["path"]))[:32],
                "freed_nodes": sum(1 for node in walk.nodes if self._visited(node)),
            }
        return list(told.values())

    def _node(self, instance: Any) -> Json:
        made = self._made.get(id(instance))
        op = type(instance).__qualname__ + (f".{made.op}" if made is not None and made.op else "")
        if made is None:
            return {"op": op}
        return {"op": op, "at": made.at, "made_after": made.after}


def _may_be_engine(kind: type) -> bool:
    """Whether the user defined a class with a `backward` that is none of torch's."""
    theirs = (torch.autograd.Function, torch.nn.Module, torch.Tensor)
    own = isinstance(vars(kind).get("backward"), FunctionType)
    return own and not issubclass(kind, theirs) and frames.is_user_class(kind)
