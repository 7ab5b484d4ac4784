"""Fixes that put a graph back where a call had cut it: `.item()`, `.data`, a tensor made anew."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial

from analyzers.evidence import MissingGraph
from analyzers.explain.origins import behind as origins_of
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.targets import is_loss
from analyzers.explain.spots import Spot, names_held, returns_of
from analyzers.repair.blocks import alias, joined
from analyzers.repair.cut.detaching import Idiom
from analyzers.repair.reconnect.cutting_expressions import (
    Rows,
    base_of,
    bounds_as_tensors,
    cut_from,
    cuts_at,
    cuts_in,
    restacked,
)
from analyzers.repair.reconnect.softening import or_nothing
from analyzers.repair.rewrite import move_into
from analyzers.repair.value_only.arrays import torch_edits
from analyzers.source.calls import calls_named
from analyzers.source.edits import Edit, Editor, needs_parentheses
from analyzers.source.flow import (
    bindings,
    called_name,
    definitions,
    is_dotted,
    names_read,
    value_of,
    walk_scope,
)
from analyzers.source.project import Module, Project, spelled
from analyzers.source.reads import read_behind
from analyzers.source.runs import behind, bound_by
from analyzers.source.trees import walk

MAX_SUSPECTS = 3


def without_cut(where: Spot, rank: int = 0) -> Iterator[Proposal]:
    """The statement without `.item()`, `.data`, `.detach()` and the like, or a tensor made anew."""
    edits = list(_all_uncut(where))
    if edits:
        told = " and ".join(dict.fromkeys(f"`{_told(n)}`" for n in cuts_in(where.statement)))
        title = f"Keep the graph: without {told}"
        kept = joined([*or_nothing(where, edits), *_along(where)])
        yield Proposal("keep-graph", title, kept, "", rank)


def _all_uncut(where: Spot) -> Iterator[Edit]:
    """Each cut taken away; a row of values that a list gets, `rows.append([a.item(), b.item()])`,
    is one tensor with their graphs."""
    editor, rows = where.editor, [row for _, row in _rows_added(where)]
    for row in rows:
        yield editor.replace(row, restacked(editor, row, partial(_uncut_within, editor)))
    for node in cuts_in(where.statement):
        if not any(editor.module.holds(row, node) for row in rows):
            yield from _uncut(editor, node)


def _rows_added(where: Spot) -> Iterator[tuple[ast.expr, ast.List | ast.Tuple]]:
    """Lists that get a row with cut values, and the row."""
    for call in calls_named(where.statement, "append"):
        match call:
            case ast.Call(
                func=ast.Attribute(value=owner), args=[ast.List() | ast.Tuple() as row]
            ) if cuts_in(ast.Expr(row)):
                yield owner, row


def _along(where: Spot) -> Iterator[Edit]:
    """What goes with it: entries that a list gets by `max` or `min` become tensors; a list of rows
    that are tensors now is stacked; and `loss.requires_grad = True`, which is refused of what has
    a graph, goes."""
    gathered = {spelled(owner) for owner, _ in _rows_added(where)}
    for node in walk_scope(where.scope) if gathered else ():
        if isinstance(node, ast.Call) and node.args and cuts_at(node):
            if spelled(node.args[0]) in gathered:
                yield from _uncut(where.editor, node)
    for node in cuts_in(where.statement):
        if isinstance(node, ast.Call) and node.args and is_dotted(cut_from(node)):
            yield from bounds_as_tensors(where.editor, where.scope, spelled(cut_from(node)))
    for statement in behind(where.module, where.statement):
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(value=owner, attr="requires_grad")],
                value=ast.Constant(value=True),
            ) if spelled(owner) in bindings(where.statement):
                yield where.editor.delete(statement)


def narrower_cut(where: Spot, rank: int = 0) -> Iterator[Proposal]:
    """Of a sum that was cut as a whole, one part keeps its graph where the other holds its
    negative: `z + (q - z).detach()` for `(z + (q - z)).detach()`. Without any cut the two would
    cancel."""
    editor = where.editor
    for cut in cuts_in(where.statement):
        total = cut_from(cut)
        for kept, other in () if getattr(cut, "args", ()) else _opposed(total):
            text = editor.text_of(other)
            bare = f"({text})" if needs_parentheses(other) else text
            end = editor.module.text[editor.span(total)[1] : editor.span(cut)[1]]
            parts = (editor.text_of(kept), f"{bare}{end.lstrip(') ')}")
            first = editor.span(kept) < editor.span(other)
            whole = " + ".join(parts if first else parts[::-1])
            alone = _stands_alone(editor.module, cut)
            edit = editor.replace(cut, whole if alone else f"({whole})")
            title = f"Let the gradient of `{spelled(kept)}` through"
            yield Proposal("narrower-cut", title, (edit,), "", rank)


def _opposed(total: ast.AST | None) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The parts of a sum, each with the other one, where that holds its negative: `z`, `q - z`."""
    match total:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            for kept, other in ((left, right), (right, left)):
                taken = [n for n in walk(other) if isinstance(n, ast.BinOp)]
                negative = [spelled(n.right) for n in taken if isinstance(n.op, ast.Sub)]
                if spelled(kept) in negative:
                    yield kept, other


def other_cut(where: Spot, rank: int = 0) -> Iterator[Proposal]:
    """Of two terms that compare the same values with the same side cut, this one cuts the other
    side: `mse(q, z.detach()) + mse(z, q.detach())` for two of `mse(z, q.detach())`."""
    editor, parents = where.editor, where.module.parents
    for cut in cuts_in(where.statement):
        sides = _compared(parents.get(cut))
        if cut not in sides or isinstance(cut, ast.Attribute) or cut.args:
            continue
        other, pair = sides[1 - sides.index(cut)], {*map(spelled, sides)}
        nodes = (n for n in walk_scope(where.scope) if n is not parents[cut])
        twins = any({*map(spelled, _compared(node))} == pair for node in nodes)
        if twins and spelled(cut_from(cut)) != spelled(other):
            edits = [*_uncut(editor, cut), Idiom().at(editor, other)]
            title = f"Detach `{spelled(other)}` instead of `{spelled(cut_from(cut))}`"
            yield Proposal("other-cut", title, joined(edits), "", rank)


def _compared(node: ast.AST | None) -> list[ast.expr]:
    """The two values that an expression compares: of `a - b`, and of a call with two arguments."""
    match node:
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return [left, right]
        case ast.Call(args=[one, other]):
            return [one, other]
    return []


def cut_beside(where: Spot, rank: int = 0) -> Iterator[Proposal]:
    """What is read once to make something of it, and elsewhere only beside that, keeps its graph
    for the first: `made, [t.detach() for t in kept]` behind `made = [f(t) for t in kept]`."""
    editor, module = where.editor, where.module
    for name in bindings(where.statement):
        reads = read_behind(where.scope, where.statement, name)
        at = [module.statement_at(node.lineno, node.col_offset) for node in reads]
        made = {*bindings(at[0])} if at and at[0] is not None else set()
        others = reads[1:]
        beside = bool(others) and all(_stands_beside(module, node, made) for node in others)
        if not beside or _is_compared(module, reads[0]):
            continue
        edits = [edit for node in cuts_in(where.statement) for edit in _uncut(editor, node)]
        each = isinstance(value_of(where.statement), ast.ListComp)
        for node in others:
            form = f"[t.detach() for t in {name}]" if each else f"{name}.detach()"
            edits.append(editor.replace(node, form))
        title = f"Detach `{name}` only beside what is made of it"
        yield Proposal("cut-beside", title, joined(edits), "", rank)


def _stands_beside(module: Module, node: ast.expr, names: set[str]) -> bool:
    """Whether an expression is returned with one of these names, or compared by a loss."""
    around = module.parents.get(node)
    returned = isinstance(around, ast.Tuple) and isinstance(module.parents[around], ast.Return)
    parts = around.elts if isinstance(around, ast.Tuple) else getattr(around, "args", [])
    beside = any(isinstance(part, ast.Name) and part.id in names for part in parts)
    return beside and (returned or _is_compared(module, node))


def _is_compared(module: Module, node: ast.expr) -> bool:
    around = module.parents.get(node)
    return isinstance(around, ast.Call) and is_loss(around)


def later_cut(where: Spot, rank: int = 0) -> Iterator[Proposal]:
    """`q = x + (q - x).detach()` behind the losses that read `q`: without its cut the statement
    says nothing, and with it they see `x` alone."""
    statement, names = where.statement, bindings(where.statement)
    if not isinstance(statement, ast.Assign) or not _passes_through(statement.value):
        return
    following = behind(where.module, statement)
    readers = [s for s in following if names_read(s) & {*names}]
    given = bound_by(following[: following.index(readers[-1])] if readers else [])
    if len(readers) < 2 or given & names_read(statement) or not {*names} <= names_read(statement):
        return
    edits = joined(move_into(where.editor, [statement], readers[-1]))
    yield Proposal("later-cut", f"Cut `{names[0]}` behind what learns from it", edits, "", rank)


def _passes_through(value: ast.expr) -> bool:
    """Whether a value is `x + (q - x).detach()`: the numbers of `q` with the gradient of `x`."""
    return any(
        isinstance(other, ast.Call | ast.Attribute) and cuts_at(other)
        for _, other in _opposed(value)
    )


def cuts_behind_loss(
    where: Spot, evidence: MissingGraph, project: Project, rank: int = 1
) -> Iterator[Proposal]:
    """Where no run has told the cut: each one in the statements that the loss comes from; and
    all of them, with what was said in NumPy said in torch."""
    names = set(names_held(evidence.holders)) or names_read(where.statement)
    origins = list(origins_of(where, names, project))
    yield from _asked_for(where, origins)
    singles = [p for origin in origins for p in without_cut(origin, rank)]
    said = {id(origin.scope): torch_edits(origin) for origin in origins}
    in_torch = [edit for edits in said.values() for edit in edits]
    if in_torch:
        cut = [o for o in origins if not said[id(o.scope)]]
        rest = [edit for o in cut for p in without_cut(o) for edit in p.edits]
        title = "Say it with torch, which keeps the graph"
        yield Proposal("torch-functions", title, joined([*in_torch, *rest]), "", 0)
    yield from singles[:MAX_SUSPECTS]
    if len(singles) > 1:
        edits = joined([edit for single in singles for edit in single.edits])
        title = "Keep the graph all along the way to the loss"
        yield Proposal("keep-graph", title, edits, "", rank + 1)


def _asked_for(where: Spot, origins: Sequence[Spot], rank: int = 0) -> Iterator[Proposal]:
    """What was cut, as a leaf: where `autograd.grad` is asked for gradients of just that."""
    call = where.call("grad")
    inputs = call.args[1:2] + [k.value for k in call.keywords if k.arg == "inputs"] if call else []
    asked = {name for node in inputs for name in names_read(node)}
    for origin in origins:
        found = [node for node in cuts_in(origin.statement) if isinstance(node, ast.Call)]
        cuts = [node for node in found if called_name(node) == "detach"]
        told = sorted(asked & set(bindings(origin.statement)))
        if cuts and told:
            edits = joined([origin.editor.append_to(node, ".requires_grad_()") for node in cuts])
            title = f"Let `{told[0]}` require a gradient, which is asked for"
            yield Proposal("new-leaf", title, edits, "", rank)


def _told(node: ast.Attribute | ast.Call) -> str:
    if isinstance(node, ast.Attribute):
        return f".{node.attr}"
    name = spelled(node.func) if node.args else f".{called_name(node)}"
    return f"{name}(...)" if node.args else f"{name}()"


def _uncut(editor: Editor, node: ast.Attribute | ast.Call) -> Iterator[Edit]:
    if (cancelling := _cancelling(editor.module, node)) is not None:
        total, rest = cancelling
        bare = _stands_alone(editor.module, total) or not needs_parentheses(rest)
        text = editor.text_of(rest)
        yield editor.replace(total, text if bare else f"({text})")
        return
    if isinstance(node, ast.Call) and node.args:
        yield editor.replace(node, _unmade(editor, node, node.args[0]))
        return
    base = base_of(node)
    if _stands_alone(editor.module, node):
        yield editor.replace(node, editor.text_of(base))
        return
    _, start = editor.span(base)
    _, end = editor.span(node)
    closing = editor.module.text[start:end]
    kept = ")" if closing.count(")") > closing.count("(") else ""
    yield Edit(editor.module.path, start, end, kept)


def _cancelling(module: Module, cut: ast.Attribute | ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """The sum around a cut that without it is one of its terms, and that: `x + (q - x).detach()`
    and `q`."""
    total = module.parents.get(cut)
    for kept, other in _opposed(total):
        match total, cut_from(cut):
            case ast.expr(), ast.BinOp(left=rest, op=ast.Sub(), right=taken) if other is cut:
                return (total, rest) if spelled(taken) == spelled(kept) else None
    return None


def _stands_alone(module: Module, node: ast.AST) -> bool:
    """Whether the expression is all of what is assigned or returned: no parentheses needed."""
    return isinstance(module.parents.get(node), ast.Assign | ast.Return)


def _unmade(editor: Editor, node: ast.Call, argument: ast.expr) -> str:
    """What a tensor was made anew from, as a tensor with its graph."""
    argument = base_of(argument)
    if isinstance(argument, Rows):
        return restacked(editor, argument, lambda entry: _uncut_within(editor, entry))
    text = editor.text_of(argument)
    if _is_sequence(editor.module, node, argument):
        return f"{alias(editor.module, 'torch')}.stack({text})"
    inside = isinstance(editor.module.parents.get(node), ast.Attribute | ast.BinOp)
    return f"({text})" if inside and isinstance(argument, ast.BinOp) else text


def _uncut_within(editor: Editor, entry: ast.expr) -> Iterator[Edit]:
    """What keeps the graph of an expression within a sequence."""
    for cut in cuts_in(ast.Expr(entry)):
        yield from _uncut(editor, cut)


def _is_sequence(module: Module, node: ast.AST, argument: ast.expr, depth: int = 3) -> bool:
    """Whether a value is plainly a list of tensors: written out, by name, or from a function of
    the script's."""
    match argument:
        case ast.List() | ast.Tuple() | ast.ListComp() | ast.GeneratorExp():
            return True
        case ast.Call(func=ast.Name(id=name)) if depth:
            function = module.function_named(name)
            given = returns_of(function)[:MAX_SUSPECTS] if function is not None else []
            return bool(given) and all(
                r.value is not None and _is_sequence(module, r, r.value, depth - 1) for r in given
            )
        case ast.Name() | ast.Attribute() if depth:
            made = definitions(module.scope_of(node), spelled(argument))[-MAX_SUSPECTS:]
            values = [
                value for s in made if isinstance(value := getattr(s, "value", None), ast.expr)
            ]
            return any(_is_sequence(module, node, value, depth - 1) for value in values)
    return False
