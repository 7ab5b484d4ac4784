"""A gradient was asked for, or read, of a tensor that the loss does not depend on.

What happens: `torch.autograd.grad(loss, inputs)` names an input that the loss does not depend on (a
head that was not used, a layer that was defined and never called, an input that the model ignores),
or one that does not require grad. Or a loop over all parameters reads `p.grad` of one that no
backward has reached: it is None.

Why: without a path from the loss to the tensor, there is no gradient. PyTorch says so instead of
inventing zeros.

The fix: first check whether the tensor should have been used: a model that ignores its input is
wrong. If not, leave the tensor out, skip parameters whose `.grad` is None, keep that None with
`allow_unused=True` if the gradients go on to `.grad` (an optimizer would still decay and average
zeros), or ask for zeros with `materialize_grads=True`.

When this fix is wrong: when the path was cut by mistake, by a `.detach()` or a computation that
starts from a copy. Zeros then hide that nothing is learnt.

Broken::

    import torch

    used, spare = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
    parameters = [*used.parameters(), *spare.parameters()]
    loss = used(torch.randn(8, 3)).pow(2).mean()
    grads = torch.autograd.grad(loss, parameters)

Fixed::

    import torch

    used, spare = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
    parameters = [*used.parameters(), *spare.parameters()]
    loss = used(torch.randn(8, 3)).pow(2).mean()
    grads = torch.autograd.grad(loss, parameters, materialize_grads=True)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, MissingGraph
from analyzers.explain.known import remedy_of
from analyzers.explain.missing import kind_of, matched
from analyzers.explain.pattern import GraphCarrier, Match, Proposal, evidence_in
from analyzers.explain.reuse.describe import line
from analyzers.explain.source_locations import SourceLocation, names_held, resolve_location
from analyzers.messages import entry_of
from analyzers.repair.reconnect.gradless import cleared_if_there, gradless_skipped
from analyzers.repair.reconnect.requiring import required_where_made, requiring_grad
from analyzers.repair.reconnect.siblings import handed_as_siblings
from analyzers.repair.reconnect.tensor_parts import asked_of_whole, joined_again, parts_asked
from analyzers.repair.reconnect.unused import (
    Question,
    asked_of_itself,
    made_if_missing,
    none_for_unused,
    question_of,
    reached_without_cut,
    read_it,
    rebind_after,
    unread_by,
    used_instead,
    zeros_for_unused,
)
from analyzers.repair.settings.modes import compiled_lines, uncompiled
from analyzers.source.backward import backward_root
from analyzers.source.callees import is_call
from analyzers.source.flow import definitions, names_read, value_of
from analyzers.source.project import Project, spelled
from analyzers.source.writes import unsliced

ID = "GM026"
NAME = "unused-parameter"
FAMILY = "no-grad"
TITLE = "The loss does not depend on a tensor whose gradient is wanted"
TITLE_OF_NONE = "A gradient is cleared where it is None"
TITLE_OF_FLAG = "The gradient of a tensor is wanted that requires none"
KIND = "unused"

_FLAG_MISSING = "does not require grad"
_FROM_NUMBERS = tuple(f"torch.{name}" for name in ("tensor", "as_tensor", "from_numpy"))


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a gradient asked of a tensor that no path leads to."""
    if not isinstance(evidence, MissingGraph):
        return None
    if kind_of(evidence, project) not in ("unused", "flat-input"):
        return None
    parts = parts_asked(resolve_location(project, evidence.at))
    taken_there = bool(parts) and parts[0].asked == spelled(parts[0].taken)
    at = evidence.at if taken_there else None
    whole = GraphCarrier(spelled(parts[0].whole), at) if at is not None else None
    found = matched(NAME, evidence, Certainty.CERTAIN, evidence.at, whole)
    entry = entry_of(evidence.message)
    title = TITLE_OF_NONE if _is_cleared(evidence, project) else entry.title if entry else ""
    title = TITLE_OF_FLAG if _FLAG_MISSING in evidence.message else title
    remedy = ""
    if entry is not None and entry.of_module:
        remedy = remedy_of(entry, evidence.message, project)
    return replace(found, title=title, remedy=remedy) if found else None


def _is_cleared(evidence: MissingGraph, project: Project) -> bool:
    """Return True if the gradient is only read to be cleared."""
    where = resolve_location(project, evidence.at)
    return where is not None and any(cleared_if_there(where))


def explain(match: Match, project: Project) -> str:
    """Explain which tensor it is, and what does not read it."""
    evidence = evidence_in(match, MissingGraph)
    if match.title == TITLE_OF_NONE:
        return (
            f"{line(match.location, project).capitalize()} clears a gradient that is None there: "
            "no backward before it has led to this leaf."
        )
    who = f"`{match.carrier.name}`" if match.carrier else "one of the tensors"
    parts = parts_asked(resolve_location(project, evidence.at))
    if parts and parts[0].copies:
        who = f"`{parts[0].asked}`"
    where = line(match.location, project)
    text = f"The gradient of {who} is requested at {where}, but no path leads from the loss to it."
    if match.title == TITLE_OF_FLAG:
        return (
            f"The gradient of {who} is requested at {where}, but it does not require one, so "
            "nothing of it was recorded. `allow_unused=True` is for tensors that do."
            f"{_of_derivative(evidence, project)}"
        )
    question = question_of(evidence, project)
    unread = unread_by(question, project) if question is not None else None
    if parts:
        what = "made of" if parts[0].copies else "a part of"
        text += f" `{parts[0].asked}` is {what} `{spelled(parts[0].whole)}`, and a new tensor: "
        text += "nothing was computed from it."
    if (leaf := _new_leaf(evidence, project)) is not None:
        text += f" And `{spelled(leaf.targets[0])}` is a new tensor, made of numbers at line "
        text += f"{leaf.lineno}: nothing before that is recorded. Compute it with torch."
    if unread is not None:
        text += f" `{unread.function.name}` takes `{unread.parameter}` at "
        text += f"{line(unread.place, project)}, and does not read it."
    if (compiled := next(compiled_lines(project), None)) is not None:
        text += f" What {line(compiled, project)} compiles is one node of the graph: of two of its "
        text += "results, none leads to the other, as it does without the compiler."
    return text


def _of_derivative(evidence: MissingGraph, project: Project) -> str:
    """Return how a second derivative is asked for, if a derivative is the input here."""
    where = resolve_location(project, evidence.at)
    if where is None:
        return ""
    for name in names_held(evidence.holders)[:1]:
        for made in definitions(where.scope, name)[-1:]:
            value = value_of(made)
            call = unsliced(value) if value is not None else None
            if isinstance(call, ast.Call) and is_call(call, "torch.autograd.grad"):
                return (
                    f" `{name}` is a derivative itself, and what it was derived from does not "
                    f"depend on it: for the second derivative, make `{name}` with "
                    "`create_graph=True`, and differentiate it by the first input "
                    f"(`torch.autograd.grad({name}.sum(), x)`); of a linear function that is zero."
                )
    return ""


def _new_leaf(evidence: MissingGraph, project: Project) -> ast.Assign | None:
    """Return the statement that makes the differentiated value of numbers: `torch.tensor(y)`."""
    where = resolve_location(project, evidence.at)
    call = where.call("torch.autograd.grad") if where is not None else None
    outputs = backward_root(call) if call is not None else None
    if where is None or outputs is None:
        return None
    for name in sorted(names_read(outputs)):
        made = [s for s in definitions(where.scope, name) if s.lineno < where.statement.lineno]
        match made[-1:]:
            case [ast.Assign(value=ast.Call(args=[value, *_]) as call) as statement]:
                if is_call(call, *_FROM_NUMBERS) and names_read(value):
                    return statement
    return None


def fixes(match: Match, project: Project) -> Iterator[Proposal]:
    """Propose to use the wanted tensor or to let it require grad.

    Otherwise skip parameters without a gradient, or ask for zeros.
    """
    evidence = evidence_in(match, MissingGraph)
    where, question = resolve_location(project, evidence.at), question_of(evidence, project)
    if where is None:
        return
    yield from gradless_skipped(where)
    yield from uncompiled(evidence, project)
    yield from cleared_if_there(where)
    if kind_of(evidence, project) == "flat-input":
        yield from required_where_made(where, evidence, project)
    yield from handed_as_siblings(names_held(evidence.holders), project)
    meant = list(_meant(where, question, project))
    yield from meant
    if kind_of(evidence, project) == "flat-input":
        yield from requiring_grad(where, evidence)
    if not meant:
        yield from none_for_unused(where)
        yield from zeros_for_unused(where, evidence, question)


def _meant(
    where: SourceLocation, question: Question | None, project: Project
) -> Iterator[Proposal]:
    """Propose the wanted tensor where it was plainly meant to be used."""
    if question is not None:
        yield from joined_again(question.where, question.outputs)
    yield from asked_of_whole(where)
    if question is not None:
        yield from rebind_after(question)
        yield from asked_of_itself(question)
        yield from used_instead(question)
        yield from reached_without_cut(question, project)
        yield from made_if_missing(question, project)
        unread = unread_by(question, project)
        if unread is not None:
            yield from read_it(unread)
