"""Merge two losses of one iteration into one backward call: on their sum, where the second call is.

Gradients add up, so nothing changes except how often the shared part is traversed. A helper that
calls backward on its loss returns it instead; steps between the two calls move after the remaining
one. Two losses with an optimizer each (a generator's and a discriminator's) keep both calls, each
for its own optimizer's parameters, before both steps.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.source_locations import SourceLocation, returns_of
from analyzers.repair.blocks import joined
from analyzers.repair.reschedule.stepping import EACH_ITS_OWN, parameters_of, rescheduled
from analyzers.repair.rewrite import move_after, top_level_in, unused_name, with_keyword
from analyzers.repair.sites.statement_facts import loss_of, sole_backward
from analyzers.source.callees import own_name
from analyzers.source.calls import ZERO_GRAD, calls_of, calls_to, steps
from analyzers.source.detached import VALUES
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import names_read, statements_of
from analyzers.source.project import Project, spelled
from analyzers.source.reads import reads_after
from analyzers.source.receivers import takes_loss
from analyzers.source.statement_ranges import ahead_of, bound_by, statements_after
from analyzers.source.trees import walk
from provenance import BackwardCall


@dataclass(frozen=True)
class LossSite:
    """One of the two backward calls, as seen from the function that contains both: its statement
    there, the spelling of the loss once `edits` are made, the call if it is that function's own,
    and what must follow the last call.
    """

    at: ast.stmt
    loss: str
    edits: tuple[Edit, ...] = ()
    backward: ast.Call | None = None
    following: tuple[str, ...] = ()


def one_backward(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a proposal that keeps the first loss for the second and calls backward once on their
    sum.
    """
    shared, reuse = story.shared, story.reuse
    if shared is None or not story.same_iteration or story.perturbed_between:
        return
    module, last = shared.module, shared.reached
    ahead, then = (
        _loss_site(story, reuse.freed, shared.freed),
        _loss_site(story, reuse.reached, last),
    )
    if then is None and (
        later := next(filter(sole_backward, statements_after(module, last)), None)
    ):
        # after `autograd.grad`, backward is called on what is computed from the gradient
        then = _loss_site(story, reuse.reached, later)
    block = module.block_of(shared.freed)
    top = top_level_in(module, then.at, block) if then is not None else None
    if top is None or top is shared.freed or ahead is None or then is None:
        return
    between = block[block.index(ahead.at) + 1 : block.index(top)]
    schedule = [s for s in between if isinstance(s, ast.Expr)]
    moved = [s for s in schedule if steps(s)]
    cleared = [s for s in schedule if s not in moved and calls_of(s, *ZERO_GRAD)]
    editor, name = Editor(module), ahead.loss
    edits: list[Edit] = []
    if top is then.at:
        edits = _summed(editor, ahead, then, between)
        edits += rescheduled(editor, moved, cleared, (ahead.at, top))
    elif name.isidentifier() and ahead.backward and then.backward and not (moved or cleared):
        if name not in bound_by(between):  # nested deeper: backward comes after both
            added = editor.replace(then.at, f"{name} = {name} + {then.loss}")
            backward = editor.insert_after(top, *editor.lines_of(ahead.at))
            edits = [editor.delete(ahead.at), added, backward]
    title = "Call backward once, on the sum" + (", then the steps" if moved or cleared else "")
    note = "All backwards run before the first step." if moved or cleared else ""
    if edits:
        yield Proposal("sum-losses", title, joined(edits), note)


def sum_with_earlier_backward(where: SourceLocation) -> Iterator[Proposal]:
    """Yield a proposal that calls backward on the sum of the statement's loss and that of the
    previous backward call in its block: if hooks step as gradients arrive, each call is a step.
    """
    ahead = [s for s in ahead_of(where.module, where.statement) if sole_backward(s)]
    first, second = sole_backward(ahead[-1]) if ahead else None, sole_backward(where.statement)
    if first is None or second is None:
        return
    editor, block = where.editor, where.block
    one, other = (
        LossSite(at, editor.text_of(loss_of(call)), backward=call)
        for at, call in ((ahead[-1], first), (where.statement, second))
    )
    between = block[block.index(one.at) + 1 : block.index(other.at)]
    title, note = (
        "Call backward once, on the sum",
        "Each parameter steps once, on the sum of gradients.",
    )
    yield Proposal("sum-losses", title, joined(_summed(editor, one, other, between)), note)


def _loss_site(
    story: ReuseFeatures, backward_call: BackwardCall, statement: ast.stmt
) -> LossSite | None:
    """Return one of the backward calls; None if the statement does more. Both may pass their losses
    to one function.
    """
    function = story.called_for(backward_call)
    both = function == story.called_for(story.reuse.freed) == story.called_for(story.reuse.reached)
    call = sole_backward(statement, function if both else "")
    if call is not None:
        text = Editor(story.frame.module).text_of(loss_of(call))
        return LossSite(statement, text, backward=call)
    return _returned(story, function, statement) if function else None


def _returned(story: ReuseFeatures, function: str, statement: ast.stmt) -> LossSite | None:
    """Return the loss of a helper that only this statement calls, as seen by the caller."""
    found, inside = _returning(story.project, function), set(walk(statement))
    if found is None or any(call not in inside for _, call in calls_to(story.project, function)):
        return None
    (inner, number), module = found, story.frame.module
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
            later = number and reads_after(module.scope_of(statement), statement, name)
        case ast.Expr(value=ast.Call() as call):
            name, later, editor = f"{function.strip('_')}_loss", False, Editor(module)
            name = unused_name(module, name)
            inner = (*inner, editor.replace(statement, f"{name} = {editor.text_of(call)}"))
        case _:
            return None
    number_again = (f"{name} = {name}.item()",) if later else ()
    return (
        LossSite(statement, name, inner, None, number_again) if own_name(call) == function else None
    )


def _returning(project: Project, name: str) -> tuple[tuple[Edit, ...], bool] | None:
    """Return edits by which a function that calls backward on one loss, and takes no step, returns
    the loss instead. The flag is True if its only return with a value, if any, is of the loss's
    number.
    """
    for module, function in project.functions_by_name(name):
        if not isinstance(function, ast.FunctionDef) or steps(function):
            continue
        backwards = [s for s in statements_of(function) if sole_backward(s)]
        returns = [r for r in returns_of(function) if r.value is not None]
        call = sole_backward(backwards[0]) if len(backwards) == 1 else None
        if call is None or len(returns) > 1 or backwards[0] not in function.body:
            return None
        if takes_loss(call):  # the caller may not know how to call backward
            return None
        editor, loss = Editor(module), loss_of(call)
        value = returns[0].value if returns else None
        if value is not None and _is_loss(value, loss):
            edits = editor.delete(backwards[0]), editor.replace(value, editor.text_of(loss))
            return edits, isinstance(value, ast.Call)
        alone = not returns and function.body[-1] is backwards[0]
        text = f"return {editor.text_of(loss)}"
        return ((editor.replace(backwards[0], text),), False) if alone else None
    return None


def _is_loss(value: ast.expr, loss: ast.expr) -> bool:
    """Return True if a value is the loss itself, or only its number."""
    while spelled(value) != spelled(loss):
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in VALUES:
                value = inner
            case ast.Call(func=ast.Name(id="float"), args=[inner]):
                value = inner
            case _:
                return False
    return True


def _summed(
    editor: Editor, ahead: LossSite, then: LossSite, between: Sequence[ast.stmt]
) -> list[Edit]:
    """Return edits that remove the first backward call and make the second one use the sum."""
    edits, name = [*ahead.edits, *then.edits], ahead.loss
    if ahead.backward is not None:
        left = loss_of(ahead.backward)
        rebound = bound_by(between) & names_read(left)
        if rebound or not isinstance(left, ast.Name | ast.Attribute | ast.BinOp):
            name = unused_name(editor.module, "first_loss")
            edits.append(editor.replace(ahead.at, f"{name} = {ahead.loss}"))
        else:
            edits.append(editor.delete(ahead.at))
    total, lines = f"{name} + {then.loss}", [*ahead.following, *then.following]
    if then.backward is None:
        lines.insert(0, f"({total}).backward()")
    else:
        text = total if then.backward.args else f"({total})"
        edits.append(of_other_loss(editor, then.backward, loss_of(then.backward), text))
    return [*edits, editor.insert_after(then.at, *lines)] if lines else edits


def of_other_loss(editor: Editor, backward: ast.Call, loss: ast.expr, other: str) -> Edit:
    """Return an edit that replaces the loss of a backward call."""
    start, end = editor.span(loss)
    if (
        isinstance(backward.func, ast.Attribute) and backward.func.value is loss
    ):  # it may be in parentheses
        start, end = editor.span(backward)[0], editor.module.text.index(".backward", end)
    return Edit(editor.module.path, start, end, other)


def backwards_apart(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a proposal that keeps the shared graph for the second backward call, moves the step
    between the two after it, and restricts each call to what the step after it changes.
    """
    shared = story.shared
    if shared is None or not story.same_iteration:
        return
    first, second = sole_backward(shared.freed), sole_backward(shared.reached)
    block, editor = shared.module.block_of(shared.freed), Editor(shared.module)
    if first is None or second is None or shared.reached not in block:
        return
    at, end = block.index(shared.freed), block.index(shared.reached)
    moved = [s for s in block[at + 1 : end] if isinstance(s, ast.Expr) and steps(s)]
    own, other = _stepped(moved), _stepped(block[end + 1 :])
    if own is None or other is None or spelled(own.value) == spelled(other.value):
        return
    edits = [
        with_keyword(editor, first, "inputs", f"{parameters_of(editor, own)}, retain_graph=True"),
        with_keyword(editor, second, "inputs", parameters_of(editor, other)),
        *move_after(editor, moved, shared.reached),
    ]
    yield Proposal("steps-last", EACH_ITS_OWN, joined(edits), "", SECOND_CHOICE + 2)


def _stepped(block: Sequence[ast.stmt]) -> ast.Attribute | None:
    """Return the first step of the statements: `optimizer.step`."""
    found = next((call.func for statement in block for call in steps(statement)), None)
    return found if isinstance(found, ast.Attribute) else None
