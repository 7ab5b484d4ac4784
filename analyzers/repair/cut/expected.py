"""Cuts at the boundary of a pass along the path that reading expects a carried value to take, where
no run has seen one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analyzers.evidence import Hop, Kind, Place
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.passing import frames, known_below
from analyzers.explain.reuse.recordtypes import is_named_tuple_field, tensor_fields
from analyzers.explain.reuse.shared_frame import Shared
from analyzers.explain.reuse.story import Story
from analyzers.repair.cut import between
from analyzers.repair.cut.cutting import Cutting
from analyzers.repair.cut.detaching import LEAF, idiom_for, starts_as_none, told
from analyzers.repair.sites.scopes import wants_gradient
from analyzers.source.calls import asks_for_gradient, calls_named
from analyzers.source.flow import bindings, bound_within, declared_outer, reads, value_of
from analyzers.source.project import Scope
from analyzers.source.signatures import positional

_TENSOR = Kind("tensor", "Tensor", graph=True)


def boundary_cuts(story: Story, rank: int = 0) -> Iterator[Proposal]:
    """Detach the carriers behind the walk, and at the head of the loop (or before the call); of
    dictionaries all that they hold, else the entries that carried a graph."""
    shared = story.shared
    if shared is None or shared.freed is None or shared.reached is None:
        return
    for entries in (False, True):
        path = tuple(_path(story, shared, entries))
        cutting = Cutting(replace(story.reuse, path=path), story.project, _template(story))
        found = list(between.at_boundary(cutting, shared, story.loop, rank))
        yield from found
        if not entries and story.loop is None and story.same_line:
            yield from _in_callee(story, cutting, rank)
        if not found and not entries:
            if story.reuse.freed.at.line == story.reuse.reached.at.line:
                yield from between.behind_walk(cutting, shared, rank)
            yield from between.behind_yield(cutting, rank)
        rank += SECOND_CHOICE


def _in_callee(story: Story, cutting: Cutting, rank: int) -> Iterator[Proposal]:
    """Behind the walk in the function that a comprehension calls for each element."""
    stack = frames(story.project, story.reuse.freed)
    at = [i for i, frame in enumerate(stack) if frame.place.frame == story.frame.frame]
    below = list(known_below(stack[at[-1] :], story.name)) if at else []
    if not below or story.name not in story.held or below[-1][0] is not stack[-1]:
        return
    frame, name = below[-1]
    kind = told(story.name, story.held[story.name])
    yield from between.behind(cutting, frame, [Hop(frame.place, "outlived", name, kind)], rank)


def _template(story: Story) -> str:
    """How a tensor of the script's engine is cut; as a leaf, where it began as one."""
    names = visible(story)
    leaf = any(wants_gradient(story.frame.scope, name) for name in names) or _began_as_leaf(story)
    idiom = LEAF if leaf and names and story.reuse.engine == "torch" else idiom_for(story)
    return idiom.template


def _began_as_leaf(story: Story) -> bool:
    """Whether the carrier began as a leaf that requires grad, and so must go on as one."""
    return any(
        isinstance(node, ast.Call) and asks_for_gradient(node)
        for _, _, statement in story.binders
        if story.loop is None or statement not in set(ast.walk(story.loop))
        for node in ast.walk(value_of(statement) or ast.Pass())
    )


def _path(story: Story, shared: Shared, entries: bool) -> Iterator[Hop]:
    """The names that outlive the walk in the frames that lead to it, and what binds them."""
    here = Place(shared.module.path, shared.reached_line, shared.function, shared.frame)
    for name in _rebound(story, visible(story)):
        yield from _outliving(story, shared.scope, here, name, entries)
    for frame in frames(story.project, story.reuse.freed):
        if frame.place.frame != shared.frame:
            outer = declared_outer(frame.scope)
            for name, holder in story.held.items():
                if name in outer or name.startswith("self."):
                    yield from _outliving(story, frame.scope, frame.place, name, entries)
                elif holder.container == "dict" and reads(frame.scope, name):
                    yield from _outliving(story, frame.scope, frame.place, name, entries=True)
    for number, (module, scope, statement) in enumerate(story.binders, 1):
        frame_ = shared.frame if scope is shared.scope else -number
        place = Place(module.path, statement.lineno, getattr(scope, "name", "<module>"), frame_)
        yield from _rebound_behind(story, shared, here, getattr(scope, "name", ""))
        for name in bindings(statement):
            if name == story.name or (story.attribute and name == f"self.{story.attribute}"):
                yield Hop(place, "bound", name, told(name, story.held.get(name)), (name,), (0,))


def _rebound_behind(story: Story, shared: Shared, here: Place, maker: str) -> Iterator[Hop]:
    """The carriers where the pass, behind its walk, calls what gives them new values."""
    assert shared.freed is not None
    block = shared.module.block_of(shared.freed)
    for statement in block[block.index(shared.freed) + 1 :] if maker else []:
        if any(calls_named(statement, maker)):
            at = replace(here, line=statement.lineno)
            for name in visible(story):
                yield Hop(at, "bound", name, told(name, story.held[name]), (name,), (0,))


def _outliving(
    story: Story, scope: Scope, at: Place, name: str, entries: bool = False
) -> Iterator[Hop]:
    """A name that outlives the walk; or those entries of a dictionary that carried a graph."""
    joins = [
        (number, holder)
        for number, join in enumerate(story.reuse.joins)
        for holder in join.holders
        if holder.path == name or holder.path.startswith((f"{name}[", f"{name}."))
    ]
    paths = tuple(dict.fromkeys(holder.path for _, holder in joins)) or (name,)
    carries = tuple(dict.fromkeys(number for number, _ in joins)) or (0,)
    none = _starts_as_none(story, scope, name)
    if entries:
        keyed = [p for p in paths if p.startswith(f"{name}[") and p.count("[") == 1]
        if not none and story.held[name].container in ("dict", "OrderedDict"):
            for number, path in enumerate(keyed):
                yield Hop(at, "outlived", path, _TENSOR, (path,), (number,))
        return
    kind = _record(story, name, paths) or told(name, story.held[name])
    yield Hop(at, "outlived", name, kind, paths, carries, none)


def _record(story: Story, name: str, paths: tuple[str, ...]) -> Kind | None:
    """A record of which some fields were found to hold an old graph; None for what is none."""
    fields = [p[len(name) + 1 :] for p in paths if p.startswith(name + ".")]
    fields = list(dict.fromkeys(field for field in fields if field.isidentifier()))
    if not fields or name == "self":
        return None
    fields += [f for f in tensor_fields(story.project, fields[0]) if f not in fields]
    kind = "namedtuple" if is_named_tuple_field(story.project, fields[0]) else "object"
    return Kind(kind, parts=tuple((repr(field), _TENSOR) for field in fields))


def _starts_as_none(story: Story, scope: Scope, name: str) -> bool:
    """Whether the first pass may find None under the name."""
    tree = story.frame.module.tree
    own = f"self.{name.rpartition('.')[2]}"
    return starts_as_none(scope, name) or ("." in name and starts_as_none(tree, own))


def visible(story: Story) -> list[str]:
    """The carriers that the shared frame can name, best first."""
    shared = story.frame
    names = []
    for name, holder in story.held.items():
        if name in story.handed:
            continue
        here = holder.frame == shared.frame or holder.scope == shared.function
        mine = name.startswith("self.") and _is_method(shared.scope)
        mine = mine or _same_object(name, shared)
        if here or mine or (holder.scope == "<module>" and shared.scope is shared.module.tree):
            names.append(name)
    return names


def _rebound(story: Story, names: list[str]) -> list[str]:
    """The names that passes of the loop give a new value; all of them where none is."""
    if story.loop is None:
        return names
    bound = bound_within(story.loop)
    return [name for name in names if name in bound or "." in name] or names


def _same_object(path: str, shared: Shared) -> bool:
    """Whether the shared frame has the object that a path starts from, by the same name."""
    owner, dot, _ = path.partition(".")
    return bool(dot) and owner != "self" and reads(shared.scope, owner)


def _is_method(scope: Scope) -> bool:
    return isinstance(scope, ast.FunctionDef) and positional(scope)[:1] == ["self"]
