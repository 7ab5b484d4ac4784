"""Fixes where nothing was recorded: under `no_grad`, after a switch, in a frozen model."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.repair.blocks import joined, unwrapped, wrapped
from analyzers.repair.leaf.leaves import no_grad_header, no_grad_on
from analyzers.repair.rewrite import move_after, move_into
from analyzers.source.backward import BACKWARD_CALLS
from analyzers.source.callees import is_call
from analyzers.source.calls import calls_of
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, names_read_by
from analyzers.source.project import FUNCTIONS, Project, spelled
from analyzers.source.recording import Switch, switches
from analyzers.source.statement_ranges import bound_by, computing, read_by, statements_after
from provenance import CodeLine


def recording(where: SourceLocation, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """Propose the work outside of the `no_grad` around it: a block, a decorator or a global
    switch."""
    editor = where.editor
    for switch in _unrecorded(where):
        around, header_text = switch.around, editor.text_of(switch.header)
        if isinstance(around, ast.With):
            for same in _under_condition(where.editor, around, switch.header):
                title = f"Record it where its backward runs: `{same.text}`"
                yield Proposal("leave-no-grad", title, (same,), "", rank)
                rank += 1
            if (last := _one_more_step(around)) is not None:
                title = f"Record `{spelled(last)}`, after what is not recorded"
                moved = move_after(editor, [last], around)
                yield Proposal("leave-no-grad", title, joined(moved), "", rank)
                rank += 1
            if chain := _apart(around, where.statement):
                title = f"Record `{editor.text_of(where.statement)}` before what is not recorded"
                apart = joined(move_into(editor, chain, around))
                yield Proposal("leave-no-grad", title, apart, "", rank)
                rank += 1
            if edits := unwrapped(editor, around):
                title = f"Record this work: without `{header_text}`"
                yield Proposal("leave-no-grad", title, edits, "", rank)
                return
        else:
            title = f"Record `{around.name}`: without `no_grad`"
            edits = (editor.delete_lines(switch.header),)
            yield Proposal("leave-no-grad", title, edits, "", rank)
    for off in left_off(project):
        if isinstance(off.statement, ast.With):
            yield from _by_decorator(off, off.statement, rank)
            continue
        rest = _computing(statements_after(off.module, off.statement))
        edit = wrapped(off.editor, rest, _header(off)) if rest else None
        gone, what, function = off.editor.delete(off.statement), "block", off.scope
        if edit is None or edit.start < gone.end:  # among others on its line
            edit = None
            if isinstance(function, FUNCTIONS[:2]) and off.statement in function.body:
                edit, what = no_grad_on(off.module, function), "function"
        if edit is not None:
            title = f"Switch recording off for this {what} only"
            yield Proposal("scoped-no-grad", title, (gone, edit), "", rank)


def _computing(statements: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """Return the statements without a last `return name`, which computes nothing."""
    match statements:
        case [*computing, ast.Return(value=ast.Name())] if computing:
            return computing
    return statements


def _header(off: SourceLocation) -> str:
    """Return the header of a block in place of a statement that switches recording off."""
    statement = off.statement
    call = statement.value if isinstance(statement, ast.Expr) else None
    literal = isinstance(call, ast.Call) and [spelled(one) for one in call.args] == ["False"]
    return no_grad_header(off.module) if literal else f"with {off.editor.text_of(statement)}:"


def left_off(project: Project) -> Iterator[SourceLocation]:
    """Yield what switches recording off for other code.

    That is a statement such as `set_grad_enabled(False)`, which may do so at times only, or a block
    that a generator yields in.
    """
    for module, node in project.each(ast.Expr):
        call = node.value
        if isinstance(call, ast.Call) and is_call(call, "torch.Tensor.set_grad_enabled"):
            if [spelled(a) for a in call.args] != ["True"]:
                yield SourceLocation.of(module, node)
    for module, given in (*project.each(ast.Yield), *project.each(ast.YieldFrom)):
        switch = next(switches(module, given), None)
        if switch is not None and isinstance(switch.around, ast.With) and not switch.records:
            function = module.scope_of(given)
            if isinstance(function, FUNCTIONS[:2]) and not _is_entered(function):
                yield SourceLocation.of(module, switch.around)


def _is_entered(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return True if a generator is a context manager that others enter."""
    return any("contextmanager" in spelled(one) for one in function.decorator_list)


def _by_decorator(off: SourceLocation, block: ast.With, rank: int) -> Iterator[Proposal]:
    """Propose a decorator, which ends at each `yield`, for a `no_grad` block around a `yield`."""
    function, edits = off.scope, unwrapped(off.editor, block)
    if edits and isinstance(function, FUNCTIONS[:2]):
        header = off.editor.text_of(block.items[0].context_expr)
        title = f"Switch recording off within `{function.name}` only, and not after its `yield`"
        decorated = off.editor.decorate(function, f"@{header}")
        yield Proposal("scoped-no-grad", title, (decorated, *edits), "", rank)


def _unrecorded(where: SourceLocation) -> Iterator[Switch]:
    """Yield what switches recording off around a statement, always or at times, innermost first."""
    found = switches(where.module, where.statement)
    return (switch for switch in found if switch.records is not True)


def _under_condition(editor: Editor, block: ast.With, header: ast.expr) -> Iterator[Edit]:
    """Yield `set_grad_enabled(phase == "train")` under the condition of the backward after the
    block."""
    if not (isinstance(header, ast.Call) and is_call(header, "torch.Tensor.set_grad_enabled")):
        return
    for statement in statements_after(editor.module, block):
        if isinstance(statement, ast.If) and calls_of(statement, *BACKWARD_CALLS) and header.args:
            if spelled(statement.test) != spelled(header.args[0]):
                yield editor.replace(header.args[0], editor.text_of(statement.test))
                return


def _one_more_step(block: ast.With) -> ast.stmt | None:
    """Return the block's last statement that updates a value from what the block made of it, or
    None.

    A solver's last step, which must be recorded for its result to learn, is one.
    """
    *before, last = block.body
    own = set(bindings(last)) & names_read_by(last) & bound_by(before)
    return last if isinstance(last, ast.Assign) and own else None


def _apart(block: ast.With, statement: ast.stmt) -> list[ast.stmt]:
    """Return the statements of a block that compute what one of it binds, that one included, if the
    block also makes something that they do not use."""
    if statement not in block.body or not bindings(statement):
        return []
    before = block.body[: block.body.index(statement)]
    chain = [*computing(before, set(names_read_by(statement))), statement]
    rest = [one for one in block.body if one not in chain and bindings(one)]
    return chain if rest and not bound_by(rest) & read_by(chain) else []


def switched_off_at(where: SourceLocation) -> int | None:
    """Return the line of the `no_grad` block or decorator around a statement, or None."""
    return next((switch.header.lineno for switch in _unrecorded(where)), None)


def where_switched_off(stack: Sequence[CodeLine], project: Project) -> SourceLocation | None:
    """Return the innermost of nested calls (outermost first) that runs under `no_grad`, or None."""
    spots = (resolve_location(project, place) for place in reversed(stack))
    return next((s for s in spots if s is not None and switched_off_at(s) is not None), None)
