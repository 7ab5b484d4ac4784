"""Fix a running total on which every iteration calls backward."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.execution_counts import constructs
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.source_locations import resolve_location
from analyzers.repair.combine.one_backward import of_other_loss
from analyzers.repair.cut.detaching import Idiom, idiom_for
from analyzers.repair.rewrite import top_level_in, unused_name
from analyzers.source.backward import backward_calls, backward_root
from analyzers.source.callees import operation, own_name
from analyzers.source.calls import steps
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import (
    bindings,
    definitions,
    mentions,
    names_read,
    part_for,
    statements_of,
    stored_into,
    value_of,
)
from analyzers.source.loop_iterations import in_each_iteration
from analyzers.source.project import Loop, Scope, spelled
from analyzers.source.signatures import parameters
from analyzers.source.statement_ranges import statements_after
from analyzers.source.trees import position, walk

_BLANK = ("zeros", "zeros_like", "new_zeros", "tensor", "float")


def backward_of_this_loss(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield proposals that call backward on the newest loss and keep numbers in the total, or
    restart the total.
    """
    shared, call = story.shared, story.root_call
    if shared is None or call is None:
        return
    conditional = story.loop is not None and not in_each_iteration(story.loop, shared.reached)
    yield from _begin_before_summing(story)
    yield from _reset_total(story, 1 if conditional else SECOND_CHOICE)
    root = backward_root(call)
    found = _newest_loss(story)
    if root is None or found is None:
        return
    editor = Editor(shared.module)
    total_edits, name = _total_of_values(editor, *found, idiom_for(story))
    backward = of_other_loss(editor, call, root, name)
    title = f"Call backward on `{name}`; keep only values in `{story.name}`"
    note, rank = "Each iteration learns from its own loss, once.", 2 if conditional else 0
    yield Proposal("walk-this-loss", title, (*total_edits, backward), note, rank)


def _newest_loss(story: ReuseFeatures) -> tuple[ast.stmt, ast.expr] | None:
    """Return the loop's statement that adds to the total (or passes a loss to the function that
    does), and what it adds.
    """
    shared = story.frame
    region = story.loop or shared.scope
    for statement in statements_of(region):
        added = _added(statement, story.name)
        if added is not None:
            return statement, added
    for _, scope, binder in story.binders:
        if not isinstance(scope, ast.FunctionDef) or scope is shared.scope:
            continue
        added = _added(binder, f"self.{story.attribute}" if story.attribute else story.name)
        taken = enumerate(parameters(scope))
        given = [i for i, name in taken if added is not None and mentions(added, name)]
        for statement in statements_of(region) if given else []:
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Call) and own_name(value) == scope.name:
                if len(value.args) > given[0]:
                    return statement, value.args[given[0]]
    return None


def _begin_before_summing(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield proposals that restart the total before the inner loop that sums it up."""
    for module, _, statement in story.binders:
        inner = module.loops_around(statement)
        if not inner or not _adds(statement) or backward_calls(inner[0]):
            continue
        for _, begun in _beginnings(story, inner[0]):
            name = next((n for n in bindings(statement) if "[" not in n), story.name)
            edit = Editor(module).insert_before(inner[0], f"{name} = {spelled(begun)}")
            title = f"Reset `{name}` before it is added up"
            note = "The total then holds the losses of this iteration only."
            yield Proposal("begin-total", title, (edit,), note)
            return


def restart_total_after_backward(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a proposal that restarts the total after its first backward call, before what is added
    for the second.
    """
    shared = story.shared
    if shared is None or not story.sums_on:
        return
    editor, first = Editor(shared.module), story.sums_on[0]
    name = next((n for n in bindings(first) if n in story.reuse.freed.root), story.name)
    begun, added = _plain_beginning(story, name), _added(first, name)
    top = top_level_in(shared.module, first, shared.module.block_of(shared.reached)) or first
    if begun is None and added is not None and top is first:
        edit = editor.replace(first, f"{name} = {editor.text_of(added)}")
    else:
        edit = editor.insert_before(top, f"{name} = {begun or 0}")
    title = f"Reset `{name}` for the second backward"
    yield Proposal("begin-total", title, (edit,), "Each backward then takes its own losses, once.")


def _plain_beginning(story: ReuseFeatures, name: str) -> str | None:
    """Return the value without a graph with which the total starts before its
    first backward call.
    """
    made = [s for s in definitions(story.frame.scope, name) if position(s) < story.frame.freed_at]
    for statement in reversed([s for s in made if not isinstance(s, ast.AugAssign)]):
        value = part_for(statement, name.__eq__)
        if isinstance(value, ast.Constant):
            return spelled(value)
        if isinstance(value, ast.Call) and operation(value) in _BLANK:
            return spelled(value)
    return None


def _adds(statement: ast.stmt) -> bool:
    value = value_of(statement)
    return isinstance(statement, ast.AugAssign) or isinstance(value, ast.BinOp)


def _beginnings(story: ReuseFeatures, loop: Loop) -> Iterator[tuple[Scope, ast.expr]]:
    """Yield the values to which the total is bound outside of a loop, except additions."""
    inside = set(walk(loop))
    for _, scope, statement in story.binders:
        if statement not in inside and isinstance(statement, ast.Assign) and not _adds(statement):
            if (begun := part_for(statement, story.name.__eq__)) is not None:
                yield scope, begun


def _added(statement: ast.stmt, total: str) -> ast.expr | None:
    """Return what the statement adds to the total."""
    match statement:
        case ast.AugAssign(target=target, op=ast.Add(), value=value):
            return value if spelled(target) == total else None
        case ast.Expr(value=ast.Call(args=[*_, last]) as call):
            return last if stored_into(call) == total else None
        case ast.Assign(value=ast.BinOp(left=left, op=ast.Add(), right=right)):
            if total in bindings(statement):
                parts = {spelled(right): left, spelled(left): right}
                return parts.get(total)
    return None


def _total_of_values(
    editor: Editor, statement: ast.stmt, added: ast.expr, idiom: Idiom
) -> tuple[tuple[Edit, ...], str]:
    """Return edits by which the total receives a detached loss, and the name of the live one."""
    plain = isinstance(added, ast.Name | ast.Attribute)
    name = editor.text_of(added) if plain else unused_name(editor.module, "loss")
    line = f"{name} = {editor.text_of(added)}"
    made = () if plain else (editor.insert_before(statement, line),)
    return (*made, editor.replace(added, idiom.of(name))), name


def _reset_total(story: ReuseFeatures, rank: int) -> Iterator[Proposal]:
    """Yield a proposal that starts a new total after the backward call (gradient accumulation by
    summed losses).
    """
    shared = story.frame
    if story.loop is None:
        return
    begun = list(_beginnings(story, story.loop))
    own = [value for scope, value in begun if scope is shared.scope]
    made = [value for scope, value in begun if constructs(story.project, scope)]
    value = next((v for v in made if not names_read(v)), None) if not own else own[-1]
    if value is None:
        return
    module, backward = shared.module, shared.reached
    if not own and story.name.startswith("self."):  # named in the method that runs its backward
        where = resolve_location(story.project, story.reuse.reached.at)
        module, backward = (
            (where.module, where.statement) if where is not None else (module, backward)
        )
    last = [
        backward,
        *(s for s in statements_after(module, backward) if steps(s) or mentions(s, story.name)),
    ][-1]
    edit = Editor(module).insert_after(last, f"{story.name} = {spelled(value)}")
    title = f"Reset `{story.name}` after its backward"
    note = "The total then holds the losses since the last step only."
    yield Proposal("reset-total", title, (edit,), note, rank)
