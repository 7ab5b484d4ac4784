"""The optimizer steps on gradients that still include those of earlier steps.

What happens: between two steps of an optimizer, `zero_grad()` is missing, is outside of the loop,
clears another optimizer, or lacks its parentheses. Each backward adds to the gradients that are
there. Nothing is raised; each step follows the sum of all past gradients. The same happens if
`zero_grad()` comes right after the step and the backward of another network then runs through this
one: the next step also uses the gradients that it leaves here. An optimizer that calls its closure
several times in a step (LBFGS) needs `zero_grad()` in the closure.

Why: gradient accumulation relies on this addition, so PyTorch never clears gradients by itself.

The fix: call `optimizer.zero_grad()` once for each step, before the backward. Weights that the
script updates itself need the same: `w.grad = None` before each backward. So do weights whose
gradients it returns, stores or passes on after each backward.

When this fix is wrong: in gradient accumulation, where several backward calls belong to one step.
There `zero_grad()` goes before the first of them.

Broken::

    import torch

    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(8):
        loss = model(torch.randn(8, 3)).pow(2).mean()
        loss.backward()
        optimizer.step()

Fixed::

    import torch

    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(8):
        loss = model(torch.randn(8, 3)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import Evidence, SilentFault
from analyzers.explain.handed import handed_on, of_inputs
from analyzers.explain.listed import some
from analyzers.explain.pattern import GraphCarrier, Match, Proposal, evidence_in
from analyzers.explain.sentences import measured
from analyzers.explain.silent_matches import matched, owner_of, silent
from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.repair.reschedule.clearing import (
    ascends,
    clear_after_ascent,
    clear_before_backward,
    clear_the_rest,
    cleared_already,
    clears_others,
    optimizer_stepped,
    uncalled,
)
from analyzers.repair.reschedule.clearing_leaves import (
    backward_in_closure,
    clear_engine_leaves,
    clear_in_closure,
    clear_leaves,
)
from analyzers.repair.reschedule.exhausted_iterator import (
    ExhaustedIterator,
    exhausted_iterator,
    kept_as_list,
)
from analyzers.source.calls import reads_gradient
from analyzers.source.project import Project
from analyzers.source.trees import remembered
from provenance import CodeLine

ID = "GM029"
NAME = "missing-zero-grad"
FAMILY = "silent"
SHOWN_AS = "gradients"
TITLE = "A step also uses gradients of earlier steps"
SEEN_AS = "uncleared-gradients"
UNTOUCHED = "nothing has cleared them between a step and the backward after it"
NEVER = "nothing has cleared them up to the end of the run"
FOREIGN = "a backward for the step of another optimizer has added to these gradients"
TAKEN = "a backward for the gradient of an input has added to these gradients"
CONTENDING = "a backward for another step has left gradients that pull the other way"
PILED = "each evaluation of the closure has added to the gradients of the one before"
CLIMBED = "the weights were moved along them, and a backward from there has added to them"
TITLE_OF_KEPT = "Gradients also hold those of earlier backward calls"
TITLES = {
    NEVER: "Gradients of earlier steps are never cleared",
    FOREIGN: "A step also uses gradients of another loss",
    TAKEN: "A step also uses gradients taken for an input",
    CONTENDING: "A step also uses gradients of another step",
    PILED: "A closure adds to the gradients of its last evaluation",
    CLIMBED: "The gradient of an ascent stays in that of the step",
}  # where the run shows more than that some are old
TOO_EARLY = (TAKEN, CONTENDING)  # cleared, and then added to by another backward
FIGURES = "Norm of the gradients left over at each step"


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match steps on gradients of earlier steps, with nothing near them that clears."""
    fault = silent(evidence, SEEN_AS)
    where = resolve_location(project, fault.at) if fault is not None else None
    if fault is None:
        return None
    if _by_hand(fault) and not fault.gradient and not _takes_gradients(project):
        return None  # what the leaves are written with is no update
    foreign = fault.detail == FOREIGN
    partly = _left_by(fault, where)
    early = fault.detail in (*TOO_EARLY, PILED)
    if where is not None and partly is None and fault.gradient == "" and not early:
        always = fault.detail == NEVER  # what stands under a condition never ran
        if cleared_already(where, fault.params, before=foreign, always=always):
            return None
    if fault.doubtful and (where is None or not _is_taken(fault, where, project)):
        return None
    name = optimizer_stepped(where) if where is not None else None
    if partly is not None or fault.detail == CLIMBED:
        name = owner_of(fault.params)
    name = name or next(iter(fault.params), None)
    carrier = GraphCarrier(name, where.place) if name and where is not None else None
    named: list[ast.expr | ast.stmt] = [*uncalled(where)] if where is not None else []
    named = [partly] if partly is not None else named
    if where is not None and not named and (used := _used_up(fault, where)) is not None:
        made = CodeLine(where.module.path, used.made.lineno)
        return matched(NAME, fault, made, GraphCarrier(used.name, made))
    if where is not None and fault.detail == PILED:
        named = [statement for statement in (backward_in_closure(where),) if statement is not None]
    place = CodeLine(where.module.path, named[0].lineno) if where is not None and named else None
    kept = _by_hand(fault) and fault.doubtful and fault.detail != CLIMBED  # none is stepped on
    title = TITLE_OF_KEPT if kept else TITLES.get(fault.detail, "")
    return matched(NAME, fault, place, carrier, title)


def explain(match: Match, project: Project) -> str:
    """Explain which optimizer it is, and how its gradients grew."""
    fault = evidence_in(match, SilentFault)
    names = some(fault.params) or "parameters"
    if _left_by(fault, resolve_location(project, fault.at)) is not None:
        return (
            f"Line {match.location.line} clears gradients, and not those of {names}: each "
            "backward adds to what an update has already used. "
            f"{measured(match, project, FIGURES)}"
        )
    if fault.detail == CLIMBED:
        return (
            f"{names} were moved along their gradients, and the backward at line "
            f"{match.location.line} adds to these what it finds at the new place: the step takes "
            "both for one."
        )
    if _by_hand(fault):
        if fault.doubtful:  # nothing updates the leaves: their gradients are passed on
            return (
                f"The script takes the gradients of {names} after each backward for those of that "
                "backward, and nothing clears them: they hold those of the backwards before, too. "
                f"{measured(match, project, 'Norm of the gradients after each backward')}"
            )
        return (
            f"The script updates {names} itself, and each backward adds to gradients that an "
            f"update has already used: nothing clears them. {measured(match, project, FIGURES)}"
        )
    where = resolve_location(project, fault.seen_at)
    if where is not None and (used := _used_up(fault, where)) is not None:
        return (
            f"Line {used.loop.lineno} clears the gradients of what `{used.name}` gives, and the "
            f"first iteration has used that iterator up. {measured(match, project, FIGURES)}"
        )
    who = f"`{match.carrier.name}`" if match.carrier else "An optimizer"
    text = f"{who} steps on gradients that still hold earlier ones."
    if fault.detail == FOREIGN:
        text = (
            f"{who} steps on gradients that are not only its own: nothing clears what another "
            "loss has left in its parameters before its backward."
        )
    elif fault.detail == TAKEN:
        text = (
            f"{who} steps on gradients that are not only its own: after `zero_grad`, backward "
            "calls for the gradient of an input have left theirs in its parameters, too."
        )
    elif fault.detail == CONTENDING:
        text = (
            f"{who} steps on gradients that are not only its own: after `zero_grad`, the "
            "backward for another step has left its own in these parameters, too, and the two "
            "pull in opposite directions."
        )
    elif fault.detail == PILED:
        text = (
            f"{who} calls its closure several times in a step, and nothing clears the gradients in "
            f"it: the backward at line {match.location.line} adds to those of the call before."
        )
    elif match.location != fault.seen_at:
        text += f" Line {match.location.line} names its `zero_grad`, and does not call it."
    return f"{text} {measured(match, project, FIGURES)}"


def fixes(match: Match, project: Project) -> Iterator[Proposal]:
    """Propose to clear before the backward call."""
    fault = evidence_in(match, SilentFault)
    where = resolve_location(project, fault.seen_at)
    if where is not None and fault.gradient:
        yield from clear_engine_leaves(where, fault.params, fault.gradient, project)
    elif where is not None and fault.detail == CLIMBED:
        yield from clear_after_ascent(where, project)
    elif where is not None and _by_hand(fault):
        yield from clear_leaves(where, fault.params)
    elif where is not None and (partly := _left_by(fault, where)) is not None:
        yield from clear_the_rest(where, partly, project)
    elif where is not None and fault.detail == PILED:
        yield from clear_in_closure(where)
    elif where is not None:
        used = _used_up(fault, where)
        yield from kept_as_list(where, used) if used is not None else ()
        rank = 0 if used is None else 1
        yield from clear_before_backward(where, rank, again=fault.detail in TOO_EARLY)


def _left_by(fault: SilentFault, where: SourceLocation | None) -> ast.stmt | None:
    """Return the clearing statement next to the step that left these parameters uncleared, or None.

    An engine's clearing was observed; elsewhere only parameters that nothing ever cleared count.
    """
    if where is None or not (fault.gradient or fault.detail in (UNTOUCHED, NEVER)):
        return None
    return clears_others(where, fault.params)


def _used_up(fault: SilentFault, where: SourceLocation) -> ExhaustedIterator | None:
    """Return the script's own clearing loop if its iterator is exhausted after the first
    iteration."""
    return (
        exhausted_iterator(where)
        if fault.detail in (UNTOUCHED, NEVER) and not fault.gradient
        else None
    )


def _by_hand(fault: SilentFault) -> bool:
    """Return True if the script updates the leaves itself: then the fault shows at a backward
    call."""
    return fault.call is not None


def _is_taken(fault: SilentFault, where: SourceLocation, project: Project) -> bool:
    """Return True if the script uses the gradients that a run was in doubt about.

    They are an input's, an ascent's, or what leaves have accumulated.
    """
    if fault.detail == CLIMBED:
        return ascends(where, project)
    if fault.detail != TAKEN:
        return handed_on(where, fault.params)
    return any(of_inputs(module) for module in project.modules.values())


def _takes_gradients(project: Project) -> bool:
    """Return True if the script itself reads a gradient."""
    return any(_reads_gradient(module.tree) for module in project.modules.values())


_reads_gradient = remembered(reads_gradient)  # of a whole file, which is asked about often
