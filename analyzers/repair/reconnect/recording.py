"""Fixes where nothing was recorded: under `no_grad`, behind a switch, in a frozen model."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.evidence import Place
from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import Spot, spot
from analyzers.repair.blocks import joined, unwrapped, wrapped
from analyzers.repair.leaf.leaves import no_grad_header
from analyzers.repair.rewrite import move_behind
from analyzers.source.calls import calls_named
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, bound_within, called_name, names_read_by
from analyzers.source.project import FUNCTIONS, Module, Project, spelled
from analyzers.source.trees import walk


def recording(where: Spot, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """The work outside of the `no_grad` around it: a block, a decorator, or a switch left off."""
    for parent in where.module.ancestors(where.statement):
        if isinstance(parent, ast.With) and _stops_recording(parent):
            if (last := _one_more_step(parent)) is not None:
                title = f"Record `{spelled(last)}`, behind what is not recorded"
                moved = move_behind(where.editor, [last], parent)
                yield Proposal("leave-no-grad", title, joined(moved), "", rank)
                rank += 1
            edits = unwrapped(where.editor, parent)
            if edits:
                header = where.editor.text_of(parent.items[0].context_expr)
                title = f"Record this work: without `{header}`"
                yield Proposal("leave-no-grad", title, edits, "", rank)
                return
        if isinstance(parent, FUNCTIONS[:2]):
            yield from _undecorated(where.editor, parent, rank)
    for module, node in project.each(ast.Expr):
        if _switches_off(node.value):
            yield from _scoped(module, node, rank)


def _one_more_step(block: ast.With) -> ast.stmt | None:
    """The last statement of a block that computes a value anew from what the block made of it: a
    solver's last step, by which its result is to learn."""
    *before, last = block.body
    made = {name for statement in before for name in bound_within(statement)}
    own = set(bindings(last)) & names_read_by(last) & made
    return last if isinstance(last, ast.Assign) and own else None


def switched_off_at(where: Spot) -> int | None:
    """The line of the `no_grad` around a statement: a block's or a decorator's."""
    for parent in where.module.ancestors(where.statement):
        if isinstance(parent, ast.With) and _stops_recording(parent):
            return parent.lineno
        for decorator in getattr(parent, "decorator_list", []):
            if _says_no_grad(decorator):
                return int(decorator.lineno)
    return None


def where_switched_off(stack: Sequence[Place], project: Project) -> Spot | None:
    """Of calls within each other, outermost first, the innermost that stands under `no_grad`."""
    spots = (spot(project, place) for place in reversed(stack))
    return next((s for s in spots if s is not None and switched_off_at(s) is not None), None)


def _stops_recording(block: ast.With) -> bool:
    """By name, or by a switch in the header (`set_grad_enabled(phase == "train")`)."""
    headers = [item.context_expr for item in block.items]
    switches = [call for node in headers for call in calls_named(node, "set_grad_enabled")]
    switched = any(call.args and spelled(call.args[0]) != "True" for call in switches)
    return switched or any(_says_no_grad(node) for node in headers)


def _says_no_grad(node: ast.expr) -> bool:
    return any(word in spelled(node) for word in ("no_grad", "inference_mode"))


def _undecorated(
    editor: Editor, function: ast.FunctionDef | ast.AsyncFunctionDef, rank: int
) -> Iterator[Proposal]:
    for decorator in function.decorator_list:
        if _says_no_grad(decorator):
            start = editor.offset(decorator.lineno, 0)
            end = editor.offset((decorator.end_lineno or decorator.lineno) + 1, 0)
            edit = Edit(editor.module.path, start, end, "")
            title = f"Record `{function.name}`: without `no_grad`"
            yield Proposal("leave-no-grad", title, (edit,), "", rank)


def _switches_off(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and called_name(node) == "set_grad_enabled"
        and bool(node.args)
        and spelled(node.args[0]) == "False"
    )


def _scoped(module: Module, switch: ast.Expr, rank: int) -> Iterator[Proposal]:
    """What follows the switch in its block, under `no_grad` instead."""
    editor = Editor(module)
    block = module.block_of(switch)
    rest = block[block.index(switch) + 1 :]
    edit = wrapped(editor, rest, no_grad_header(module)) if rest else None
    if edit is not None:
        title = "Switch recording off for this block only"
        yield Proposal("scoped-no-grad", title, (editor.delete(switch), edit), "", rank)


def walked_again(where: Spot, rank: int = 0) -> Iterator[Proposal]:
    """Checkpoints that record what is in them whatever their inputs: `use_reentrant=False`."""
    edits = tuple(
        where.editor.replace(keyword.value, "False")
        for call in calls_named(where.scope, "checkpoint", "checkpoint_sequential")
        for keyword in call.keywords
        if keyword.arg == "use_reentrant" and spelled(keyword.value) == "True"
    )
    if edits:
        title = "Checkpoint with `use_reentrant=False`"
        yield Proposal("checkpoint-records", title, edits, "", rank)


def thawed(project: Project, rank: int = 0) -> Iterator[Proposal]:
    """New modules behind the loop that freezes parameters; else without that loop."""
    for module, loop in project.each(ast.For):
        if _freezes(loop):
            yield from _thaw(Editor(module), loop, rank)


def _freezes(loop: ast.For) -> bool:
    return "parameters" in spelled(loop.iter) and any(
        (
            isinstance(node, ast.Assign)
            and spelled(node.targets[0]).endswith(".requires_grad")
            and spelled(node.value) == "False"
        )
        or (isinstance(node, ast.Call) and spelled(node).endswith("requires_grad_(False)"))
        for statement in loop.body
        for node in walk(statement)
    )


def _thaw(editor: Editor, loop: ast.For, rank: int) -> Iterator[Proposal]:
    block = editor.module.block_of(loop)
    owner = spelled(loop.iter).partition(".parameters")[0]
    new = [
        s
        for s in block[: block.index(loop)]
        if isinstance(s, ast.Assign) and spelled(s.targets[0]).startswith(f"{owner}.")
    ]
    if new:
        edits = tuple(move_behind(editor, new, loop))
        told = " and ".join(f"`{spelled(s.targets[0])}`" for s in new)
        yield Proposal("new-part-unfrozen", f"Make {told} behind the freezing", edits, "", rank)
    tradeoff = "All of the model learns, where it was frozen on purpose or by mistake."
    yield Proposal("unfreeze", "Do not freeze", (editor.delete(loop),), tradeoff, rank + 2)
