"""Fixes for losses that have no gradient: a soft value for a hard one, scores for classes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import alias, joined, text_with
from analyzers.repair.rewrite import unused_name
from analyzers.source.callees import in_library, is_call, operation
from analyzers.source.calls import calls_of, operations_in
from analyzers.source.edits import Edit, Editor, needs_parentheses
from analyzers.source.flow import bindings, definitions, is_dotted, mentions, names_read, value_of
from analyzers.source.project import Module, is_path, spelled
from analyzers.source.statement_ranges import statements_after
from analyzers.source.trees import walk

_STEPWISE = frozenset({"round", "sign", "floor", "ceil", "trunc", "int", "long", "bool"})
_FLOATS = frozenset({"float", "double", "half"})
CASTS = _FLOATS | {"to", "type"}
_ORDERS = frozenset({"permute", "transpose", "movedim", "moveaxis", "contiguous"})
_FLOATING = re.compile(r"float|double|half", re.IGNORECASE)
_COMPARISONS = ("gt", "ge", "lt", "le")


class StepFunction(NamedTuple):
    """A step function, which has no gradient: the expression and its statement, what it is applied
    to, and the text of what has one in its place. `idle`: the statement of a choice that nothing
    else reads."""

    statement: ast.stmt
    hard: ast.expr
    of: ast.expr
    soft: str
    idle: ast.stmt | None = None


def softened(where: SourceLocation) -> StepFunction | None:
    """Return the first step function of a statement, or the one-hot rows of a choice in it."""
    for node in walk(where.statement):
        of = _soft(where.module, node)
        if of is not None and isinstance(node, ast.expr):
            return StepFunction(where.statement, node, of, where.editor.text_of(of))
    return _chosen_rows(where)


def differentiable(where: SourceLocation, rank: int = 1) -> Iterator[Proposal]:
    """Propose the operand of a step function in its place.

    It is `p` for `(p > 0.5).float()`, and the probabilities for one-hot rows of a choice.
    """
    editor, step = where.editor, softened(where)
    if step is not None:
        edits = [editor.replace(_flagged(where.module, step.hard), step.soft)]
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


def _flagged(module: Module, hard: ast.expr) -> ast.expr:
    """Return the step with a `.requires_grad_()` after it, which hides the missing gradient."""
    method = module.parents.get(hard)
    flag = module.parents.get(method) if isinstance(method, ast.Attribute) else None
    forced = isinstance(flag, ast.Call) and is_call(flag, "torch.Tensor.requires_grad_")
    return flag if forced and isinstance(flag, ast.expr) else hard


def is_probability(where: SourceLocation) -> bool:
    """Return True if the step is applied to a probability, which may replace the decision."""
    found = softened(where)
    return found is not None and comes_of(where, found.of, "sigmoid", "softmax")


def comes_of(where: SourceLocation, given: ast.expr, *functions: str) -> bool:
    """Return True if a value, or what its names are bound to, is the result of such a function."""
    values: list[ast.expr | None] = [given]
    for name in names_read(given):
        values += [value_of(statement) for statement in definitions(where.scope, name)]
    return any(value and operations_in(value, functions) for value in values)


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


def _soft(module: Module, node: ast.AST) -> ast.expr | None:
    """Return the operand of a step function, or None.

    It is `p` for `(p > 0.5).float()`, `p.ge(0.5).int()`, `p.round()`, `torch.round(p)` and
    `torch.where(p > 0.5, 1.0, 0.0)`.
    """
    if not isinstance(node, ast.Call):
        return None
    name, operand = operation(node), _operand(module, node)
    if name in (*CASTS, "int", "long") and isinstance(operand, ast.Compare):
        return operand.left
    if name in (*CASTS, "int", "long") and isinstance(operand, ast.Call):
        if operation(operand) in (*_COMPARISONS, "round", "argsort"):
            return _without(module, operand, operation(operand))
    if name == "argsort":
        return _without(module, node, name)
    match node.args:
        case [ast.Compare(left=value), one, other] if name == "where":
            return value if _is_level(one) and _is_level(other) else None
    return operand if name in _STEPWISE and "." in spelled(node.func) else None


def _is_level(value: ast.expr) -> bool:
    """Return True for one number or a tensor filled with one: `1.0`, `torch.ones_like(p)`."""
    made = operation(value) if isinstance(value, ast.Call) else ""
    return isinstance(value, ast.Constant) or made in ("ones_like", "zeros_like", "full_like")


def _operand(module: Module, call: ast.Call) -> ast.expr | None:
    """Return the object of a method call, or the first argument of a library function."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if owner is not None and not (is_dotted(owner) and in_library(call)):
        return owner
    return call.args[0] if call.args else None


def _without(module: Module, node: ast.expr, *names: str) -> ast.expr:
    """Return the operand of calls of these names: `x` of `x.argsort().argsort()`,
    `torch.argsort(x)`."""
    while isinstance(node, ast.Call) and operation(node) in names:
        if (operand := _operand(module, node)) is None:
            break
        node = operand
    return node


def class_scores(where: SourceLocation, rank: int = 0) -> Iterator[Proposal]:
    """Propose cross entropy on the scores for a loss on the chosen classes."""
    chosen = next(_choosing(where), None)
    scores = _operand(where.module, chosen) if chosen is not None else None
    targets = _indices(where.statement)
    if scores is None or len(targets) != 1 or not is_path(name := spelled(targets[0])):
        return
    editor = where.editor
    for statement in statements_after(where.module, where.statement):
        call = _loss_on(statement, name)
        if call is None:
            continue
        target = next(a for a in call.args if not mentions(a, name))
        cross = f"{alias(where.module, 'torch.nn.functional')}.cross_entropy"
        scores = _without(where.module, scores, "softmax", "log_softmax")  # it takes its own
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


def _chosen_rows(where: SourceLocation) -> StepFunction | None:
    """Return the first one-hot rows of the highest index, in this statement or a later one.

    The step includes casts and permutations; the softmax has the dimension order of the scores.
    """
    module, statement = where.module, where.statement
    chosen = next(_choosing(where), None)
    scores = _operand(module, chosen) if chosen is not None else None
    names, dim = set(bindings(statement)), _dimension(chosen, scores)
    if scores is None or chosen is None or not dim:
        return None
    soft = where.editor.text_of(scores)
    if not comes_of(where, scores, "softmax"):
        soft = f"{alias(module, 'torch')}.softmax({soft}, dim={dim})"
    later = statements_after(module, statement)
    for one in (statement, *later):
        for call in calls_of(one, "torch.Tensor.one_hot"):
            own = module.holds(call, chosen)
            if call.args and (own or names_read(call.args[0]) <= names):
                last = later if names.isdisjoint(bindings(one)) else later[: later.index(one)]
                read = own or any(names & names_read(s) for s in last if s is not one)
                hard = _arranged(module, call)
                return StepFunction(one, hard, scores, soft, None if read else statement)
    return None


def _dimension(choice: ast.Call | None, scores: ast.expr | None) -> str:
    """Return the source of the dimension of an argmax, or its default."""
    if choice is None:
        return ""
    given = [one for one in choice.args if one is not scores][:1]
    given += [keyword.value for keyword in choice.keywords if keyword.arg in ("dim", "axis")]
    return spelled(given[0]) if given else ""


def _arranged(module: Module, call: ast.Call) -> ast.expr:
    """Return a call with the casts and permutations applied to it."""
    method = module.parents.get(call)
    outer = module.parents.get(method) if isinstance(method, ast.Attribute) else None
    if isinstance(outer, ast.Call) and operation(outer) in CASTS | _ORDERS:
        return _arranged(module, outer)
    return call


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


def _choosing(where: SourceLocation) -> Iterator[ast.Call]:
    """Yield the calls that compute indices of the largest: `argmax`, or `max` along a dimension."""
    yield from calls_of(where.statement, "torch.Tensor.argmax")
    for call in calls_of(where.statement, "torch.Tensor.max"):
        given = len(call.args) - (_operand(where.module, call) in call.args)
        if given == 1 or any(keyword.arg == "dim" for keyword in call.keywords):
            yield call


def _indices(statement: ast.stmt) -> list[ast.expr]:
    """Return the targets that get indices: the second of `_, chosen = scores.max(1)`."""
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id="_"), chosen])]):
            return [chosen]
        case ast.Assign(targets=targets):
            return targets
    return []


def _loss_on(statement: ast.stmt, name: str) -> ast.Call | None:
    """Return the innermost call of two arguments of which one reads the name, or None."""
    found = [
        node
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
        and len(node.args) == 2
        and not is_call(node, "torch.Tensor.one_hot")
        and sum(mentions(a, name) for a in node.args) == 1
        and all(map(names_read, node.args))
    ]
    return found[-1] if found else None


def _classes(editor: Editor, target: ast.expr) -> str:
    """Return the target's source as class indices, without a conversion to floating point."""
    while isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute):
        given = " ".join(map(spelled, [*target.args, *(k.value for k in target.keywords)]))
        plain = target.func.attr in _FLOATS and not given
        if not plain and not (target.func.attr in ("type", "to") and _FLOATING.search(given)):
            break
        target = target.func.value
    return editor.text_of(target)
