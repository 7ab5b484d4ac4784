"""Fixes that move a cut: to one part of a sum, to the other side of a comparison, to what is stored
with a derived value, or after the losses that need its input."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.read_only_uses import is_loss
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import joined
from analyzers.repair.cut.detaching import Idiom
from analyzers.repair.reconnect.cutting_expressions import cut_from, cuts_at, cuts_in, opposed
from analyzers.repair.reconnect.uncutting import is_delimited, uncut
from analyzers.repair.rewrite import move_into
from analyzers.source.edits import needs_parentheses
from analyzers.source.flow import bindings, names_read, own_expressions, value_of, walk_scope
from analyzers.source.project import Module, spelled
from analyzers.source.reads import reads_after
from analyzers.source.statement_ranges import bound_by, statements_after


def narrower_cut(where: SourceLocation, rank: int = 0) -> Iterator[Proposal]:
    """Propose `z + (q - z).detach()` for `(z + (q - z)).detach()`.

    One term of the detached sum keeps its graph where the other contains its negative; without any
    cut the two would cancel.
    """
    editor = where.editor
    for cut in cuts_in(where.statement):
        total = cut_from(cut)
        for kept, other in () if getattr(cut, "args", ()) else opposed(total):
            text = editor.text_of(other)
            bare = f"({text})" if needs_parentheses(other) else text
            end = editor.module.text[editor.span(total)[1] : editor.span(cut)[1]]
            parts = (editor.text_of(kept), f"{bare}{end.lstrip(') ')}")
            first = editor.span(kept) < editor.span(other)
            whole = " + ".join(parts if first else parts[::-1])
            alone = is_delimited(editor.module, cut)
            edit = editor.replace(cut, whole if alone else f"({whole})")
            title = f"Let the gradient of `{spelled(kept)}` through"
            yield Proposal("narrower-cut", title, (edit,), "", rank)


def other_cut(where: SourceLocation, rank: int = 0) -> Iterator[Proposal]:
    """Propose to cut the other side of one of two terms that compare the same values.

    `mse(q, z.detach()) + mse(z, q.detach())` replaces two terms `mse(z, q.detach())`.
    """
    editor, parents = where.editor, where.module.parents
    for cut in cuts_in(where.statement):
        sides = _compared(parents.get(cut))
        if cut not in sides or isinstance(cut, ast.Attribute) or cut.args:
            continue
        other, pair = sides[1 - sides.index(cut)], {*map(spelled, sides)}
        nodes = (n for n in walk_scope(where.scope) if n is not parents[cut])
        twins = any({*map(spelled, _compared(node))} == pair for node in nodes)
        if twins and spelled(cut_from(cut)) != spelled(other):
            edits = [*uncut(editor, cut), Idiom().at(editor, other)]
            title = f"Detach `{spelled(other)}` instead of `{spelled(cut_from(cut))}`"
            yield Proposal("other-cut", title, joined(edits), "", rank)


def _compared(node: ast.AST | None) -> list[ast.expr]:
    """Return the two values that an expression compares: those of `a - b`, or two arguments."""
    match node:
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return [left, right]
        case ast.Call(args=[one, other]):
            return [one, other]
    return []


def cut_other_reads(where: SourceLocation, rank: int = 0) -> Iterator[Proposal]:
    """Propose to detach a value only where it is stored or compared with what was derived from it.

    `made, [t.detach() for t in kept]` follows `made = [f(t) for t in kept]`.
    """
    editor, module = where.editor, where.module
    for name in bindings(where.statement):
        reads = reads_after(where.scope, where.statement, name)
        at = [module.statement_at(node.lineno, node.col_offset) for node in reads]
        made = {*bindings(at[0])} if at and at[0] is not None else set()
        others = reads[1:]
        detachable = bool(others) and all(_is_with(module, node, made) for node in others)
        if not detachable or _is_compared(module, reads[0]):
            continue
        edits = [edit for node in cuts_in(where.statement) for edit in uncut(editor, node)]
        each = isinstance(value_of(where.statement), ast.ListComp)
        for node in others:
            form = f"[t.detach() for t in {name}]" if each else f"{name}.detach()"
            edits.append(editor.replace(node, form))
        title = f"Detach `{name}` only where it meets what is computed from it"
        yield Proposal("cut-other-reads", title, joined(edits), "", rank)


def _is_with(module: Module, node: ast.expr, names: set[str]) -> bool:
    """Return True if an expression is returned together with one of these names or a loss compares
    them."""
    around = module.parents.get(node)
    returned = isinstance(around, ast.Tuple) and isinstance(module.parents[around], ast.Return)
    parts = around.elts if isinstance(around, ast.Tuple) else getattr(around, "args", [])
    together = any(isinstance(part, ast.Name) and part.id in names for part in parts)
    return together and (returned or _is_compared(module, node))


def _is_compared(module: Module, node: ast.expr) -> bool:
    around = module.parents.get(node)
    return isinstance(around, ast.Call) and is_loss(around)


def later_cut(where: SourceLocation, rank: int = 0) -> Iterator[Proposal]:
    """Propose `q = x + (q - x).detach()` after the losses that read `q`.

    Without its cut the statement has no effect; with it those losses see the gradient of `x` only.
    """
    statement, names = where.statement, bindings(where.statement)
    if not passed_on(where):
        return
    following = statements_after(where.module, statement)
    readers = [s for s in following if names_read(s) & {*names}]
    given = bound_by(following[: following.index(readers[-1])] if readers else [])
    if len(readers) < 2 or given & names_read(statement) or not {*names} <= names_read(statement):
        return
    edits = joined(move_into(where.editor, [statement], readers[-1]))
    yield Proposal("later-cut", f"Cut `{names[0]}` after what learns from it", edits, "", rank)


def passed_on(where: SourceLocation) -> bool:
    """Return True for a straight-through estimator such as `q = x + (q - x).detach()`."""
    return any(
        isinstance(other, ast.Call | ast.Attribute) and cuts_at(other)
        for total in own_expressions(where.statement)
        for _, other in opposed(total)
    )
