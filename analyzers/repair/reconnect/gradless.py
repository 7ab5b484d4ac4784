"""Fixes where a gradient is used that is None: what reads it passes those by, what clears it only
clears what is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.listed import said
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import joined, wrapped
from analyzers.repair.rewrite import head_of
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import names_read, run_around
from analyzers.source.loop_iterations import iterated
from analyzers.source.project import Module, spelled
from analyzers.source.targets import target_names
from analyzers.source.trees import nodes_of, walk


def gradless_skipped(where: SourceLocation) -> Iterator[Proposal]:
    """Propose that every loop of the function that reads `.grad` skips parameters without one."""
    nodes = walk(where.scope)
    edits = [edit for node in nodes for edit in _guarded(where.module, where.editor, node)]
    if edits:
        title = "Skip parameters that have no gradient"
        yield Proposal("skip-gradless", title, joined(edits))


def cleared_if_there(where: SourceLocation) -> Iterator[Proposal]:
    """Propose to guard the statement that clears a gradient that may be None, and those like it.

    Each gets its own guard, since some leaves may have a gradient.
    """
    clearing = [s for s in where.block if _gradient_cleared(s)]
    if where.statement not in clearing:
        return
    run = run_around(where.module, where.statement, clearing)
    run = run[run.index(where.statement) :]
    guarded = [(s, f"if {_gradient_cleared(s)} is not None:") for s in run]
    edits = [wrapped(where.editor, [s], header) for s, header in guarded]
    made = [edit for edit in edits if edit is not None]
    if len(made) == len(edits):
        title = f"Clear {said([_gradient_cleared(s) for s in run])} only where there is one"
        yield Proposal("skip-gradless", title, joined(made))


def _gradient_cleared(statement: ast.stmt) -> str:
    """Return `w.grad` of the statement `w.grad.zero_()`, else ''."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=cleared, attr="zero_"))):
            gradient = spelled(cleared).removesuffix(".data")
            return gradient if gradient.endswith(".grad") else ""
    return ""


def _guarded(module: Module, editor: Editor, node: ast.AST) -> Iterator[Edit]:
    """Yield a guard against `.grad is None` in a loop or comprehension over the tensors."""
    if isinstance(node, ast.For | ast.While):
        through = iterated(node, module.scope_of(node))
        for name in through.names if through is not None else ():
            reading = [s for s in node.body if f"{name}.grad" in names_read(s)]
            if reading and not _has_guard(node, name):
                lines = [f"if {name}.grad is None:", "    continue"]
                at = head_of(node) if isinstance(node, ast.For) else reading[0]
                yield editor.insert_before(at, *lines)
    if isinstance(node, ast.comprehension):
        parent = module.parents.get(node)
        for name in target_names(node.target):
            reads = parent is not None and f"{name}.grad" in names_read(parent)
            if reads and not _has_guard(node, name):
                end = editor.span(node.ifs[-1] if node.ifs else node.iter)[1]
                yield Edit(module.path, end, end, f" if {name}.grad is not None")


def _has_guard(node: ast.AST, name: str) -> bool:
    return any(
        any(isinstance(op, ast.Is | ast.IsNot) for op in inner.ops)
        and f"{name}.grad" in names_read(inner)
        for inner in nodes_of(node, ast.Compare)
    )
