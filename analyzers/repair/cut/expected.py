"""Cut at the boundary of an iteration along the predicted path of a carried value, if no run has
seen one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.passing import frames
from analyzers.explain.reuse.recordtypes import is_named_tuple_field, tensor_fields
from analyzers.explain.reuse.shared_frame import Shared
from analyzers.explain.source_locations import resolve_location
from analyzers.repair.cut import between, within
from analyzers.repair.cut.cutting import Cutting
from analyzers.repair.cut.detaching import LEAF, expected_shape, idiom_for, starts_as_none
from analyzers.repair.sites.scopes import wants_gradient
from analyzers.source.calls import asks_for_gradient, own_calls
from analyzers.source.flow import bindings, bound_within, declared_outer, reads, value_of
from analyzers.source.project import Scope, spelled
from analyzers.source.signatures import positional
from analyzers.source.trees import nodes_of, walk
from provenance import Binding, CodeLine, ValueKind, ValuePart, ValueShape

_TENSOR = ValueShape("tensor", "Tensor", graph=True)


def boundary_cuts(story: ReuseFeatures, rank: int = 0) -> Iterator[Proposal]:
    """Yield proposals that detach the carriers after the backward call, and at the head of the loop
    (or before the call); for dictionaries everything in them, else the entries that carried a
    graph.
    """
    shared = story.shared
    if shared is None:
        return
    for entries in (False, True):
        path = tuple(_path(story, shared, entries))
        cutting = Cutting(replace(story.reuse, path=path), story.project, _template(story))
        found = list(between.at_boundary(cutting, shared, story.loop, rank))
        yield from found
        if not found and not entries:
            if story.reuse.freed.at.line == story.reuse.reached.at.line:
                yield from between.after_backward(cutting, shared, rank)
            yield from between.after_yield(cutting, rank)
        rank += SECOND_CHOICE


def stored_cuts(story: ReuseFeatures, rank: int = 0) -> Iterator[Proposal]:
    """Yield proposals that detach the carriers where they are stored."""
    idiom = idiom_for(story)
    path = tuple(_stores(story))
    if any(binding.at.frame == 0 for binding in path) or _among_entries(story):
        # What a segment, or a loss, reads of its own iteration stays connected.
        rank += SECOND_CHOICE
    cutting = Cutting(replace(story.reuse, path=path), story.project, idiom.template)
    yield from within.where_stored(cutting, rank)


def _stores(story: ReuseFeatures) -> Iterator[Binding]:
    """Yield the statements of an iteration that bind what the next one meets, each as a separate
    cut; their frame is 0 in an inner loop.
    """
    shared, number = story.shared, 0
    for one in story.of_each_carrier():
        for module, scope, statement in one.binders:
            here = shared is not None and scope is shared.scope and one.loop is not None
            if getattr(scope, "name", "") in ("__init__", "__post_init__"):
                continue
            if here and not module.holds(one.loop, statement):
                continue
            if isinstance(value_of(statement), ast.Constant):
                continue
            number += 1
            inner = here and module.loops_around(statement)[:1] != [one.loop]
            function = getattr(scope, "name", "<module>")
            at = CodeLine(module.path, statement.lineno, function, 0 if inner else -number)
            for name in _spellings(one, statement):
                yield _stored(one, at, name, number - 1)


def _spellings(story: ReuseFeatures, statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement uses for the carrier."""
    named = nodes_of(statement, ast.Name, ast.Attribute)
    for name in dict.fromkeys(spelled(node) for node in named):
        own = "." in name and name.rpartition(".")[2] == story.attribute
        if name == story.name or own:
            yield name


def _stored(story: ReuseFeatures, at: CodeLine, name: str, number: int) -> Binding:
    """Return a carrier as the storing scope spells it."""
    holder = story.holder
    if holder is not None:
        holder = replace(holder, path=name + holder.path.removeprefix(story.name))
    paths = (holder.path,) if holder is not None else (name,)
    held = [held.path for edge in story.reuse.stale_edges for held in edge.holders]
    fields = _fields(path for path in held if path.startswith(f"{story.name}["))
    return Binding(at, "bound", expected_shape(name, holder, fields), name, paths, (number,))


def _fields(paths: Iterable[str]) -> list[str]:
    """Return the fields in which paths end."""
    last = dict.fromkeys(path.rpartition(".")[2] for path in paths)
    return [field for field in last if field.isidentifier()]


def _among_entries(story: ReuseFeatures) -> bool:
    """Return True if the line that reads an old entry also reads another one: one of them is new
    (`store[-1] - store[-2]`).
    """
    for edge in story.reuse.stale_edges:
        where = resolve_location(story.project, edge.new.at if edge.new is not None else None)
        entries = {
            spelled(node.slice)
            for node in nodes_of(
                where.statement if where is not None else ast.Pass(), ast.Subscript
            )
            if spelled(node.value).rpartition(".")[2] == (story.attribute or story.name)
        }
        if len(entries) > 1:
            return True
    return False


def _template(story: ReuseFeatures) -> str:
    """Return how a tensor of the script's engine is cut; as a leaf, if it began as one."""
    names = visible(story)
    leaf = any(wants_gradient(story.frame.scope, name) for name in names) or _began_as_leaf(story)
    idiom = LEAF if leaf and names and story.reuse.engine == "torch" else idiom_for(story)
    return idiom.template


def _began_as_leaf(story: ReuseFeatures) -> bool:
    """Return True if the carrier began as a leaf that requires a gradient, and so must stay one."""
    return any(
        asks_for_gradient(node)
        for _, _, statement in story.binders
        if story.loop is None or statement not in set(walk(story.loop))
        for node in nodes_of(value_of(statement) or ast.Pass(), ast.Call)
    )


def _path(story: ReuseFeatures, shared: Shared, entries: bool) -> Iterator[Binding]:
    """Yield the names that outlive the backward call in the frames that lead to it, and what binds
    them.
    """
    here = CodeLine(shared.module.path, shared.reached_line, shared.function, shared.frame)
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
        place = CodeLine(module.path, statement.lineno, getattr(scope, "name", "<module>"), frame_)
        yield from _rebound_after(story, shared, here, getattr(scope, "name", ""))
        for name in bindings(statement):
            if name == story.name or (story.attribute and name == f"self.{story.attribute}"):
                yield Binding(
                    place, "bound", expected_shape(name, story.held.get(name)), name, (name,), (0,)
                )


def _rebound_after(
    story: ReuseFeatures, shared: Shared, here: CodeLine, maker: str
) -> Iterator[Binding]:
    """Yield the carriers at the call, after the backward call, that rebinds them."""
    block = shared.module.block_of(shared.freed)
    for statement in block[block.index(shared.freed) + 1 :] if maker else []:
        if any(own_calls(statement, maker)):
            at = replace(here, line=statement.lineno)
            for name in visible(story):
                yield Binding(
                    at, "bound", expected_shape(name, story.held[name]), name, (name,), (0,)
                )


def _outliving(
    story: ReuseFeatures, scope: Scope, at: CodeLine, name: str, entries: bool = False
) -> Iterator[Binding]:
    """Yield a name that outlives the backward call, or those entries of a dictionary that carried a
    graph.
    """
    stale_edges = [
        (number, holder)
        for number, edge in enumerate(story.reuse.stale_edges)
        for holder in edge.holders
        if holder.path == name or holder.path.startswith((f"{name}[", f"{name}."))
    ]
    paths = tuple(dict.fromkeys(holder.path for _, holder in stale_edges)) or (name,)
    carries = tuple(dict.fromkeys(number for number, _ in stale_edges)) or (0,)
    none = _starts_as_none(story, scope, name)
    if entries:
        keyed = [p for p in paths if p.startswith(f"{name}[") and p.count("[") == 1]
        if not none and story.held[name].container in ("dict", "OrderedDict"):
            for number, path in enumerate(keyed):
                yield Binding(at, "outlived", _TENSOR, path, (path,), (number,))
        return
    kind = _record(story, name, paths) or expected_shape(name, story.held[name])
    yield Binding(at, "outlived", kind, name, paths, carries, none)


def _record(story: ReuseFeatures, name: str, paths: tuple[str, ...]) -> ValueShape | None:
    """Return the shape of a record of which some fields held an old graph;
    None if it is no record.
    """
    fields = _fields(p for p in paths if p.rpartition(".")[0] == name)
    if not fields or name == "self":
        return None
    fields += [f for f in tensor_fields(story.project, fields[0]) if f not in fields]
    kind: ValueKind = "namedtuple" if is_named_tuple_field(story.project, fields[0]) else "object"
    return ValueShape(kind, parts=tuple(ValuePart(_TENSOR, repr(field)) for field in fields))


def _starts_as_none(story: ReuseFeatures, scope: Scope, name: str) -> bool:
    """Return True if the first iteration may find None under the name."""
    tree = story.frame.module.tree
    own = f"self.{name.rpartition('.')[2]}"
    return starts_as_none(scope, name) or ("." in name and starts_as_none(tree, own))


def visible(story: ReuseFeatures) -> list[str]:
    """Return the carriers that the shared frame can name, best first."""
    shared = story.frame
    scopes = (shared.function, "<module>" if shared.scope is shared.module.tree else "")
    return [
        name
        for name, holder in story.held.items()
        if name not in story.handed
        if holder.frame == shared.frame or holder.scope in scopes or _same_object(name, shared)
    ]


def _rebound(story: ReuseFeatures, names: list[str]) -> list[str]:
    """Return the names that iterations of the loop rebind; all of them if none is."""
    if story.loop is None:
        return names
    bound = bound_within(story.loop)
    return [name for name in names if name in bound or "." in name] or names


def _same_object(path: str, shared: Shared) -> bool:
    """Return True if the shared frame has the object that a path starts from,
    under the same name.
    """
    owner, dot, _ = path.partition(".")
    if dot and owner == "self":
        return isinstance(shared.scope, ast.FunctionDef) and positional(shared.scope)[:1] == [owner]
    return bool(dot) and reads(shared.scope, owner)
