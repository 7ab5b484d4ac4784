"""Fix windows of states on which backward is called by hand: restart them
after the backward call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from itertools import takewhile

from analyzers.explain.listed import said
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.source_locations import (
    SourceLocation,
    functions_calling,
    resolve_location,
    root_of,
)
from analyzers.repair.cut.cutting import cut
from analyzers.repair.cut.expected import visible
from analyzers.repair.sites.scopes import last_backward_or_step
from analyzers.source.callees import is_call, own_name
from analyzers.source.calls import calls_of
from analyzers.source.edits import Editor
from analyzers.source.flow import names_read, reads, statements_of, walk_scope
from analyzers.source.project import spelled
from analyzers.source.trees import position


def cut_window(story: ReuseFeatures, rank: int) -> Iterator[Proposal]:
    """Yield proposals that restart the window after the backward call: as the script began it, or
    empty, or with the last state cut from its past.
    """
    shared, holder = story.shared, story.holder
    if shared is None or holder is None or not holder.container.startswith(("list", "deque")):
        return
    if story.name not in visible(story):
        return
    last = f"[{story.name}[-1].detach()]"
    if holder.container.startswith("deque"):
        last = f"deque({last}, maxlen={story.name}.maxlen)"
    lines = [f"{story.name}.clear()"]
    if "." not in holder.path.removeprefix(story.name):  # entries that are records have no detach
        lines.append(f"{story.name} = {last}")
    if (again := _begun_again(story)) is not None:
        lines.insert(0, f"{story.name} = {again}")
    for place, line in enumerate(lines, rank):
        title = f"Reset `{story.name}` after the backward"
        edit = Editor(shared.module).insert_after(_last_of_iteration(story), line)
        yield cut("restart-window", title, (edit,), place)


def _last_of_iteration(story: ReuseFeatures) -> ast.stmt:
    """Return the last statement of the block of this iteration's backward call, if that block has
    further backward calls; else the call (with its step).
    """
    shared = story.frame
    for parent in takewhile(lambda p: p is not story.loop, shared.module.ancestors(shared.freed)):
        if isinstance(parent, ast.If):
            return parent.body[-1]
    return last_backward_or_step(shared.module, shared.freed)


def _begun_again(story: ReuseFeatures) -> str | None:
    """Return the literal that began the list, with what the loop appends last in place of the
    initial state: `[(None, h0)]` and `append((h, new))` give `[(None, new)]`.
    """
    first: ast.Tuple | None = None
    appended: ast.Tuple | None = None
    for _, _, statement in story.binders:
        match statement:
            case ast.Assign(value=ast.List(elts=[ast.Tuple() as found])):
                first = first or found
            case ast.Expr(value=ast.Call(args=[*_, ast.Tuple() as found])):
                appended = found
    if first is None or appended is None or len(first.elts) != len(appended.elts):
        return None
    pairs = zip(first.elts, appended.elts, strict=True)
    parts = [spelled(old if isinstance(old, ast.Constant) else new) for old, new in pairs]
    return f"[({', '.join(parts)})]"


def emptied(story: ReuseFeatures, rank: int) -> Iterator[Proposal]:
    """Yield a proposal that empties a list after the backward call that freed its graphs, next to
    other lists emptied there and in the same form.
    """
    place = story.reuse.freed.at
    where = resolve_location(story.project, place)
    holder = story.holder
    if where is None or holder is None or not holder.container.startswith("list"):
        return
    module, backward, scope = where.module, where.statement, where.scope
    if not (story.name.startswith("self.") or reads(scope, story.name.partition(".")[0])):
        return
    manners = [
        (statement, manner)
        for statement in statements_of(scope)
        if position(statement) > position(backward) and (manner := _emptying(statement)) is not None
    ]
    after, manner = (
        manners[-1] if manners else (last_backward_or_step(module, backward), "{}.clear()")
    )
    rank += 0 if manners else 3  # what the script never empties may be kept on purpose
    edit = Editor(module).insert_after(after, manner.format(story.name))
    yield cut("empty-list", f"Empty `{story.name}` after the backward", (edit,), rank)


def gathered_emptied(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a proposal that empties lists, which an inner loop fills for one backward call in
    another function, or for a method of their object, after that call, together with the other
    lists collected for the loss. It comes before any cut: values of earlier iterations would count
    again.
    """
    where, shared = resolve_location(story.project, story.reuse.freed.at), story.shared
    if where is None or shared is None:
        return
    holders = [holder for edge in story.reuse.stale_edges for holder in edge.holders]
    lists = {root_of(h.path) for h in holders if h.container.startswith("list")}
    owners = {name.rpartition(".")[0] for name in lists}
    read = names_read(where.scope) if where.scope is not shared.scope else set()
    read |= {n for owner in owners - {"", "self"} for n in _read_by_methods(story, where, owner)}
    lists &= read
    if len(owners) != 1 or not lists or not all(_fills_in_steps(story, name) for name in lists):
        return
    yield from _by_own_method(story, where, min(owners), lists)
    if (found := _where_others_are(story, where, min(owners), lists)) is not None:
        yield found
    owned = {n for n in read if "." in n and n.rpartition(".")[0] in owners}
    names = sorted(lists | {name for name in owned if _fills_in_steps(story, name)})
    lines = [f"{name}.clear()" for name in names]
    edit = Editor(where.module).insert_after(
        last_backward_or_step(where.module, where.statement), *lines
    )
    title = f"Empty {said(names)} after the backward"
    why = "Each backward uses what was gathered since the last."
    yield Proposal("empty-gathered", title, (edit,), why, -SECOND_CHOICE)


def _read_by_methods(story: ReuseFeatures, where: SourceLocation, owner: str) -> Iterator[str]:
    """Yield, as attributes of an object, what those of its methods read that the function calls."""
    for call in (node for node in walk_scope(where.scope) if isinstance(node, ast.Call)):
        if isinstance(call.func, ast.Attribute) and spelled(call.func.value) == owner:
            for _, method in story.project.functions_named(call.func.attr):
                own = (name for name in names_read(method) if name.startswith("self."))
                yield from (f"{owner}.{name.removeprefix('self.')}" for name in own)


def _by_own_method(
    story: ReuseFeatures, where: SourceLocation, owner: str, lists: Set[str]
) -> Iterator[Proposal]:
    """Yield a proposal that calls the object's own method which empties these lists after the
    backward call, if nothing calls it.
    """
    attributes = {f"self.{name.rpartition('.')[2]}" for name in lists}
    for module, method in story.project.each(ast.FunctionDef):
        emptied = {found[0] for s in method.body if (found := _emptied(s)) is not None}
        sole = module.class_of(method) is not None and len(emptied) == len(method.body)
        called = any(own_name(call) == method.name for _, call in story.project.each(ast.Call))
        if sole and attributes <= emptied and not called:
            last = last_backward_or_step(where.module, where.statement)
            line = f"{owner}.{method.name}()"
            edit = Editor(where.module).insert_after(last, line)
            why = "Each backward uses what was gathered since the last."
            yield Proposal(
                "empty-gathered", f"Call `{line}` after the backward", (edit,), why, -SECOND_CHOICE
            )


def _where_others_are(
    story: ReuseFeatures, where: SourceLocation, owner: str, lists: Set[str]
) -> Proposal | None:
    """Return a proposal that empties the lists in the method of their object that empties others
    and is called after the backward call.
    """
    for call in _later_calls(where):
        if not isinstance(call.func, ast.Attribute) or spelled(call.func.value) != owner:
            continue
        for module, method in story.project.functions_named(call.func.attr):
            made = [(s, known) for s in statements_of(method) if (known := _emptied(s)) is not None]
            emptied = {name for _, (name, _) in made}
            missing = sorted(f"self.{name.rpartition('.')[2]}" for name in lists)
            owner_class = module.class_of(method)
            filled = calls_of(owner_class, "list.append") if owner_class is not None else []
            if not {f"{name}.append" for name in missing} <= {spelled(c.func) for c in filled}:
                continue
            if made and not emptied & set(missing) and all(n.startswith("self.") for n in emptied):
                last, (_, manner) = made[-1]
                edit = Editor(module).insert_after(last, *(manner.format(n) for n in missing))
                title = f"Empty {said(sorted(lists))} in `{method.name}`, as the others"
                why = "Each backward uses what was gathered since the last."
                return Proposal("empty-gathered", title, (edit,), why, -SECOND_CHOICE)
    return None


def _later_calls(where: SourceLocation) -> Iterator[ast.Call]:
    """Yield the calls of the function after a statement, in the same loops."""
    loops = where.module.loops_around(where.statement)
    for node in walk_scope(where.scope):
        if isinstance(node, ast.Call) and position(node) > position(where.statement):
            if where.module.loops_around(node) == loops:
                yield node


def _fills_in_steps(story: ReuseFeatures, name: str) -> bool:
    """Return True if only inner loops of the iteration add to a list, and
    nothing empties it there.
    """
    shared, last = story.frame, name.rpartition(".")[2]
    calls: list[ast.AST] = []
    for module, node in story.project.each(ast.Call):
        if spelled(node.func).split(".")[-2:-1] != [last]:
            continue
        if is_call(node, "list.clear", "list.pop", "list.popleft"):
            return False
        if is_call(node, "list.append"):
            scope = module.scope_of(node)
            function = getattr(scope, "name", "<module>")
            owner = name.rpartition(".")[0] if function == "forward" else ""
            calls += [node] if scope is shared.scope else _coming_to(story, function, owner)
    return bool(calls) and all(_within_iteration(story, call) for call in calls)


def _coming_to(story: ReuseFeatures, name: str, owner: str) -> list[ast.AST]:
    """Return the calls in the frame that lead to a function, by the shortest chain; for a module's
    forward, those of its `owner`.
    """
    own = [c for c in walk_scope(story.frame.scope) if isinstance(c, ast.Call)]
    for depth in range(3):
        coming = functions_calling(story.project, name, depth)
        if found := [c for c in own if own_name(c) in coming or spelled(c.func) == owner]:
            return [*found]
    return []


def _within_iteration(story: ReuseFeatures, call: ast.AST) -> bool:
    """Return True if a call is in an inner loop within the loop of the backward call."""
    shared = story.frame
    inner = next(iter(shared.module.loops_around(call)), None)
    own = inner is not None and inner is not story.loop
    return own and not shared.module.holds(inner, shared.freed)


def _emptying(statement: ast.stmt) -> str | None:
    """Return how a statement empties a list, with a placeholder for another list's name."""
    found = _emptied(statement)
    return found[1] if found is not None else None


def _emptied(statement: ast.stmt) -> tuple[str, str] | None:
    """Return the list that a statement empties, and how, with a placeholder for another list's
    name.
    """
    match statement:
        case ast.Assign(targets=[ast.Name() | ast.Attribute() as held], value=ast.List(elts=[])):
            return spelled(held), "{} = []"
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=held), args=[]) as call) if is_call(
            call, "list.clear"
        ):
            return spelled(held), "{}.clear()"
        case ast.Delete(targets=[ast.Subscript(value=held, slice=ast.Slice(None, None, None))]):
            return spelled(held), "del {}[:]"
    return None
