"""Fixes for losses that have no gradient: a soft value for a hard one, scores for classes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import alias, joined, text_with
from analyzers.repair.reconnect.step_functions import (
    FLOATS,
    StepFunction,
    choosing,
    comes_of,
    flagged,
    indices,
    operand_of,
    softened,
    without,
)
from analyzers.repair.rewrite import unused_name
from analyzers.source.callees import is_call
from analyzers.source.edits import Edit, Editor, needs_parentheses
from analyzers.source.flow import bindings, is_dotted, mentions, names_read
from analyzers.source.project import is_path, spelled
from analyzers.source.statement_ranges import statements_after
from analyzers.source.trees import nodes_of

_FLOATING = re.compile(r"float|double|half", re.IGNORECASE)


def differentiable(where: SourceLocation, rank: int = 1) -> Iterator[Proposal]:
    """Propose the operand of a step function in its place.

    It is `p` for `(p > 0.5).float()`, and the probabilities for one-hot rows of a choice.
    """
    editor, step = where.editor, softened(where)
    if step is not None:
        edits = [editor.replace(flagged(where.module, step.hard), step.soft)]
        edits += [editor.delete(step.idle)] if step.idle is not None else []
        title = f"Use {_said(where, step)}, which has a gradient"
        tradeoff = "The loss is that of the soft value; the hard one has no gradient."
        made = or_nothing(where, edits) if step.statement is where.statement else joined(edits)
        yield Proposal("soft-value", title, made, tradeoff, rank)


def _said(where: SourceLocation, step: StepFunction) -> str:
    """Return a description of the replacement of a step function."""
    given = f"`{spelled(step.of)}`"
    return f"{given} itself" if _is_given(where, step) else f"the softmax of {given}"


def is_choice(where: SourceLocation) -> bool:
    """Return True if a statement makes one-hot rows of the index of the highest value."""
    step = softened(where)
    return step is not None and not _is_given(where, step)


def _is_given(where: SourceLocation, step: StepFunction) -> bool:
    """Return True if the value with a gradient has an expression in the source."""
    return step.soft == where.editor.text_of(step.of)


def or_nothing(where: SourceLocation, edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return edits of a statement, or its removal if they would assign a name to itself."""
    made = joined(edits)
    match where.statement:
        case ast.Assign(targets=[target], value=value) if is_dotted(target) and made:
            if text_with(where.editor, value, made).strip() == spelled(target):
                return (where.editor.delete(where.statement),)
    return made


def is_probability(where: SourceLocation) -> bool:
    """Return True if the step is applied to a probability, which may replace the decision."""
    found = softened(where)
    return found is not None and comes_of(where, found.of, "sigmoid", "softmax")


def straight_through(where: SourceLocation, rank: int = 2) -> Iterator[Proposal]:
    """Propose the hard value in the forward pass and the soft one's gradient in the backward
    pass."""
    editor, step = where.editor, softened(where)
    if step is not None:
        hard, soft, edits = editor.text_of(step.hard), step.soft, list[Edit]()
        if not _is_given(where, step):
            soft = unused_name(where.module, "probabilities")
            edits.append(editor.insert_before(step.statement, f"{soft} = {step.soft}"))
        elif needs_parentheses(step.of):
            soft = f"({soft})"
        text = f"{soft} + ({hard} - {soft}).detach()"
        alone = isinstance(where.module.parents.get(step.hard), ast.Assign | ast.Return)
        edits.append(editor.replace(step.hard, text if alone else f"({text})"))
        title = f"Pass the gradient of `{spelled(step.of)}` straight through"
        tradeoff = "The gradient is that of the soft value, at the hard one."
        yield Proposal("straight-through", title, joined(edits), tradeoff, rank)


def class_scores(where: SourceLocation, rank: int = 0) -> Iterator[Proposal]:
    """Propose cross entropy on the scores for a loss on the chosen classes."""
    chosen = next(choosing(where), None)
    scores = operand_of(chosen) if chosen is not None else None
    targets = indices(where.statement)
    if scores is None or len(targets) != 1 or not is_path(name := spelled(targets[0])):
        return
    editor = where.editor
    for statement in statements_after(where.module, where.statement):
        call = _loss_on(statement, name)
        if call is None:
            continue
        target = next(a for a in call.args if not mentions(a, name))
        cross = f"{alias(where.module, 'torch.nn.functional')}.cross_entropy"
        scores = without(scores, "softmax", "log_softmax")  # it takes its own
        text = f"{cross}({editor.text_of(scores)}, {_classes(editor, target)})"
        edits = [editor.replace(call, text)]
        others = [s for s in where.block if s is not statement and name in names_read(s)]
        if not others and isinstance(targets[0], ast.Name):  # an attribute others may read
            edits.append(editor.delete(where.statement))
        edits += unflagged(where, statement)
        title = f"Cross entropy on `{spelled(scores)}` instead of a loss on chosen classes"
        tradeoff = "Another loss: the number of wrong classes has no gradient."
        yield Proposal("cross-entropy", title, tuple(edits), tradeoff, rank)
        return


def unflagged(where: SourceLocation, statement: ast.stmt) -> Iterator[Edit]:
    """Yield the removal of `loss.requires_grad = True` after a statement.

    It hid that there was no graph; where there is one, torch refuses it.
    """
    names = bindings(statement)
    for later in statements_after(where.module, statement):
        match later:
            case (
                ast.Assign(
                    targets=[ast.Attribute(value=owner, attr="requires_grad")],
                    value=ast.Constant(value=True),
                )
                | ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(value=owner, attr="requires_grad_"),
                        args=[] | [ast.Constant(value=True)],
                    )
                )
            ) if spelled(owner) in names:
                yield where.editor.delete(later)


def _loss_on(statement: ast.stmt, name: str) -> ast.Call | None:
    """Return the innermost call of two arguments of which one reads the name, or None."""
    found = [
        node
        for node in nodes_of(statement, ast.Call)
        if len(node.args) == 2
        and not is_call(node, "torch.Tensor.one_hot")
        and sum(mentions(a, name) for a in node.args) == 1
        and all(map(names_read, node.args))
    ]
    return found[-1] if found else None


def _classes(editor: Editor, target: ast.expr) -> str:
    """Return the target's source as class indices, without a conversion to floating point."""
    while isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute):
        given = " ".join(map(spelled, [*target.args, *(k.value for k in target.keywords)]))
        plain = target.func.attr in FLOATS and not given
        if not plain and not (target.func.attr in ("type", "to") and _FLOATING.search(given)):
            break
        target = target.func.value
    return editor.text_of(target)
