"""Fixes for `w = w - lr * w.grad`: the same leaf, updated; or a new one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.blocks import indentation, joined, missing_import, run_around, wrapped
from analyzers.edits import Edit
from analyzers.flow import bindings
from analyzers.leaves import clears, in_place_of, no_grad_header, rebinds
from analyzers.pattern import Proposal
from analyzers.source import spelled
from analyzers.spots import Spot


def leaf_kept(where: Spot, rank: int = 0) -> Iterator[Proposal]:
    """The run of updates in place, under `no_grad`, and the gradients cleared behind it."""
    run = _run(where)
    if not run:
        return
    editor = where.editor
    edits = [in_place_of(editor, s) for s in run if isinstance(s, ast.Assign)]
    names = dict.fromkeys(spelled(s.targets[0]) for s in run if isinstance(s, ast.Assign))
    cleared = [f"{name}.grad = None" for name in names if not clears(where.scope, name)]
    told = " and ".join(f"`{name}`" for name in names)
    if _under_no_grad(where):
        made: tuple[Edit, ...] = (*edits, *_behind(where, run, cleared))
    else:
        edit = wrapped(editor, run, no_grad_header(where.module), edits)
        if edit is None:
            return
        indent = editor.newline + editor.indent_of(run[0]) + indentation(where.module)
        body = edit.text + "".join(indent + line for line in cleared)
        made = (Edit(edit.path, edit.start, edit.end, body), *missing_import(editor))
    title = f"Update {told} in place, under `no_grad`"
    yield Proposal("update-in-place", title, joined(made), "unknown", "", rank)


def _run(where: Spot) -> list[ast.stmt]:
    """The adjacent statements that rebind names to values computed from themselves."""
    alike = [s for s in where.block if any(rebinds(s, name) for name in bindings(s))]
    return run_around(where.module, where.statement, alike) if where.statement in alike else []


def _behind(where: Spot, run: list[ast.stmt], lines: list[str]) -> tuple[Edit, ...]:
    return (where.editor.insert_after(run[-1], *lines),) if lines else ()


def _under_no_grad(where: Spot) -> bool:
    return any(
        isinstance(parent, ast.With) and "no_grad" in spelled(parent.items[0])
        for parent in where.module.ancestors(where.statement)
    )


def leaf_again(where: Spot, rank: int = 1) -> Iterator[Proposal]:
    """The new tensor as a leaf of its own."""
    run = _run(where) or [where.statement]
    last = {name: s for s in run for name in bindings(s)}
    edits = tuple(
        where.editor.append_to(s.value, ".detach().requires_grad_()")
        for s in dict.fromkeys(last.values())
        if isinstance(s, ast.Assign)
    )
    if edits:
        title = "Make the new tensor a leaf that requires grad"
        yield Proposal("new-leaf", title, edits, "unknown", "", rank)
