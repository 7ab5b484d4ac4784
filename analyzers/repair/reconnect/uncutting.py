"""Restore a graph where a call had cut it: `.item()`, `.data`, a new tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial

from analyzers.evidence import MissingGraph
from analyzers.explain.origins import origins_of
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation, names_held
from analyzers.repair.blocks import alias, imported, joined, text_with
from analyzers.repair.reconnect.cutting_expressions import (
    Rows,
    base_of,
    bounds_as_tensors,
    compared,
    cut_from,
    cuts_at,
    cuts_in,
    opposed,
    restacked,
)
from analyzers.repair.reconnect.resampling import as_parameters, asked_for, sampled
from analyzers.repair.reconnect.softening import or_nothing, unflagged
from analyzers.repair.value_only.arrays import (
    SHARED,
    counted_by_torch,
    is_sequence,
    torch_edits,
)
from analyzers.source.callees import is_call, operation
from analyzers.source.calls import calls_of, operations_in
from analyzers.source.edits import Edit, Editor, needs_parentheses
from analyzers.source.flow import definitions, is_dotted, names_read, own_expressions, walk_scope
from analyzers.source.project import Module, Project, spelled
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import nodes_of

MAX_SUSPECTS = 3
_NUMBERS = {"item", "shape", "size", "dim", "numel", "tolist"}
MAX_ORIGINS = 24


def without_cut(where: SourceLocation, rank: int = 0) -> Iterator[Proposal]:
    """Yield proposals for the statement without `.item()`, `.data`, `.detach()` and the like, or a
    new tensor: first without one of two by which a comparison has no graph at all.
    """
    yield from _one_uncut(where, rank)
    edits = list(_all_uncut(where))
    if edits:
        cut_names = " and ".join(dict.fromkeys(f"`{_shown(n)}`" for n in cuts_in(where.statement)))
        title = f"Keep the graph: remove {cut_names}"
        kept = joined([*or_nothing(where, edits), *_along(where)])
        yield Proposal("keep-graph", title, kept, "", rank)


def _one_uncut(where: SourceLocation, rank: int) -> Iterator[Proposal]:
    """Yield proposals that remove one cut of a comparison both of whose sides are cut: each side
    alone may be meant as a constant (`(q.detach() - z.detach()) ** 2`).
    """
    cuts = cuts_in(where.statement)
    for node in own_expressions(where.statement):
        sides = [side for side in compared(node) if side in cuts]
        if len(sides) == 2:
            for side in sides:
                title = f"Keep the graph of `{spelled(cut_from(side))}` in `{spelled(node)}`"
                edits = joined(uncut(where.editor, side))
                yield Proposal("keep-graph", title, edits, "", rank)


def _all_uncut(where: SourceLocation) -> Iterator[Edit]:
    """Yield edits that remove each cut.

    A row of values that a list gets, `rows.append([a.item(), b.item()])`, becomes one tensor with
    their graphs; so do rows that it gets as a sum of lists.
    """
    editor, rows = where.editor, [row for _, row in _rows_added(where)]
    for row in rows:
        if isinstance(row, ast.BinOp):
            parts = ", ".join(editor.text_of(base_of(part)) for part in _summands(row))
            yield editor.replace(row, f"{alias(editor.module, 'torch')}.cat([{parts}])")
        else:
            yield editor.replace(row, restacked(editor, row, partial(_uncut_within, editor)))
    yield from _uncut_outermost(editor, cuts_in(where.statement), rows)


def _uncut_outermost(
    editor: Editor, cuts: Sequence[ast.Attribute | ast.Call], done: Sequence[ast.expr] = ()
) -> Iterator[Edit]:
    """Yield edits that remove these cuts, except those within `done`."""
    around: list[ast.expr] = [*done]
    for node in cuts:
        if not any(editor.module.holds(one, node) for one in around):
            yield from uncut(editor, node)
            around += node.args[:1] if isinstance(node, ast.Call) else []


def _rows_added(
    where: SourceLocation,
) -> Iterator[tuple[ast.expr, ast.List | ast.Tuple | ast.BinOp]]:
    """Yield lists that receive a row with cut values, and the row."""
    for call in calls_of(where.statement, "list.append"):
        match call:
            case ast.Call(
                func=ast.Attribute(value=owner), args=[ast.List() | ast.Tuple() as row]
            ) if cuts_in(ast.Expr(row)):
                yield owner, row
            case ast.Call(func=ast.Attribute(value=owner), args=[ast.BinOp() as row]) if all(
                isinstance(part, ast.Call) and is_call(part, "torch.Tensor.tolist")
                for part in _summands(row)
            ):
                yield owner, row


def _summands(total: ast.expr) -> list[ast.expr]:
    """Return the terms of a sum."""
    match total:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [*_summands(left), *_summands(right)]
    return [total]


def _along(where: SourceLocation) -> Iterator[Edit]:
    """Yield the edits that must accompany it.

    List entries from `max` or `min` become tensors; a list of rows that are tensors now is stacked;
    and `loss.requires_grad = True`, which torch refuses on a tensor with a graph, is removed.
    """
    gathered = {spelled(owner) for owner, _ in _rows_added(where)}
    for node in walk_scope(where.scope) if gathered else ():
        if isinstance(node, ast.Call) and node.args and cuts_at(node):
            if spelled(node.args[0]) in gathered:
                yield from uncut(where.editor, node)
    for node in cuts_in(where.statement):
        if isinstance(node, ast.Call) and node.args and is_dotted(cut_from(node)):
            yield from bounds_as_tensors(where.editor, where.scope, spelled(cut_from(node)))
    yield from unflagged(where, where.statement)
    for node in cuts_in(where.statement):
        given = node.args[0] if isinstance(node, ast.Call) and node.args else None
        for statement in definitions(where.scope, spelled(given)) if given is not None else ():
            yield from _computed_with_torch(where, statement)


def _computed_with_torch(where: SourceLocation, statement: ast.stmt) -> Iterator[Edit]:
    """Yield edits with `torch.exp` instead of `math.exp` for expressions that contain a parameter:
    the latter makes a number of it.
    """
    own = {
        spelled(target)
        for node in where.module.each(ast.Assign)
        for target, value in assigned_pairs(node)
        if isinstance(value, ast.Call) and is_call(value, "torch.nn.Parameter")
    }
    for call in operations_in(statement, SHARED):
        read = {spelled(n) for a in call.args for n in nodes_of(a, ast.Attribute)}
        left = {name.rpartition(".")[2] for name in read} & _NUMBERS  # a plain number by then
        one = len(call.args) == 1 and not any(
            calls_of(call.args[0], "torch.Tensor.float", "builtins.len")
        )
        math = spelled(call.func) in _of_math(where.module, operation(call))
        if math and read & own and one and not left:
            name = f"{alias(where.module, 'torch')}.{operation(call)}"
            yield where.editor.replace(call.func, name)


def _of_math(module: Module, name: str) -> set[str | None]:
    """Return the module's spellings of a function of `math`."""
    return {f"{alias(module, 'math')}.{name}", imported(module, f"math.{name}")}


def cuts_of_loss(
    where: SourceLocation, evidence: MissingGraph, project: Project, rank: int = 1
) -> Iterator[Proposal]:
    """Yield proposals if no run recorded the cut: each cut in the statements that compute the loss,
    and all of them, with NumPy calls replaced by torch calls.
    """
    names = set(names_held(evidence.holders)) or names_read(where.statement)
    origins = list(origins_of(where, names, project))
    yield from asked_for(where, origins)
    yield from as_parameters(origins, rank)
    yield from (p for origin in origins[:MAX_ORIGINS] for p in sampled(origin, rank))
    singles = [p for origin in origins for p in without_cut(origin, rank)]
    scopes = {id(origin.scope): origin for origin in origins}
    said = {key: torch_edits(origin) for key, origin in scopes.items()}
    in_torch = [edit for edits in said.values() for edit in edits]
    if in_torch:
        cut = [o for o in origins if not said[id(o.scope)]]
        rest = [edit for o in cut for p in without_cut(o) for edit in p.edits]
        title = "Use torch's functions, which keep the graph"
        yield Proposal("torch-functions", title, joined([*in_torch, *rest]), "", 0)
    yield from singles[:MAX_SUSPECTS]
    if len(singles) > 1:
        edits = joined([edit for single in singles for edit in single.edits])
        title = "Keep the graph all along the way to the loss"
        yield Proposal("keep-graph", title, edits, "", rank + 1)


def _shown(node: ast.Attribute | ast.Call) -> str:
    if isinstance(node, ast.Attribute):
        return f".{node.attr}"
    name = spelled(node.func) if node.args else f".{operation(node)}"
    return f"{name}(...)" if node.args else f"{name}()"


def uncut(editor: Editor, node: ast.Attribute | ast.Call) -> Iterator[Edit]:
    """Yield the edits by which a cutting expression keeps its graph."""
    if (cancelling := _cancelling(editor.module, node)) is not None:
        total, rest = cancelling
        bare = is_delimited(editor.module, total) or not needs_parentheses(rest)
        text = editor.text_of(rest)
        yield editor.replace(total, text if bare else f"({text})")
        return
    if isinstance(node, ast.Call) and node.args:
        yield editor.replace(node, _unmade(editor, node, node.args[0]))
        return
    base = base_of(node)
    if is_delimited(editor.module, node):
        yield editor.replace(node, editor.text_of(base))
        return
    _, start = editor.span(base)
    _, end = editor.span(node)
    closing = editor.module.text[start:end]
    kept = ")" if closing.count(")") > closing.count("(") else ""
    yield Edit(editor.module.path, start, end, kept)


def _cancelling(module: Module, cut: ast.Attribute | ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """Return the sum around a cut that would cancel without it, and the term it equals, or None.

    For example `x + (q - x).detach()` and `q`.
    """
    total = module.parents.get(cut)
    for kept, other in opposed(total):
        match total, cut_from(cut):
            case ast.expr(), ast.BinOp(left=rest, op=ast.Sub(), right=taken) if other is cut:
                return (total, rest) if spelled(taken) == spelled(kept) else None
    return None


def is_delimited(module: Module, node: ast.AST) -> bool:
    """Return True if the expression is everything that is assigned or returned: no parentheses
    needed.
    """
    return isinstance(module.parents.get(node), ast.Assign | ast.Return)


def _unmade(editor: Editor, node: ast.Call, argument: ast.expr) -> str:
    """Return what a new tensor was made from, as a tensor with its graph."""
    argument = base_of(argument)
    if isinstance(argument, Rows):
        return restacked(editor, argument, lambda entry: _uncut_within(editor, entry))
    if isinstance(argument, ast.Call) and (counted := counted_by_torch(editor, argument)):
        return text_with(editor, argument, joined(counted))
    text = text_with(editor, argument, joined(_uncut_within(editor, argument)))
    if is_sequence(editor.module, node, argument):
        return f"{alias(editor.module, 'torch')}.stack({text})"
    inside = isinstance(editor.module.parents.get(node), ast.Attribute | ast.BinOp)
    return f"({text})" if inside and isinstance(argument, ast.BinOp) else text


def _uncut_within(editor: Editor, entry: ast.expr) -> Iterator[Edit]:
    """Yield edits that keep the graph of an expression within a sequence."""
    yield from _uncut_outermost(editor, cuts_in(ast.Expr(entry)))
