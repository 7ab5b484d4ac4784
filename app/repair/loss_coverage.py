"""Compare the losses that a patch backpropagates with those of the original: alone, in sums, or not
at all.

At fixed parameters and with common random numbers, a loss has the same value in both runs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import accumulate, islice

from analyzers.explain.listed import counted
from app.repair.effects import paired
from app.schemas import Check
from sandbox.records import Step, Trace

OF_FIRST = "detach-in-first-loss"  # a value that two losses share
NEAR = 1e-4  # between two values of one loss, as a share of it
LOOKED_AT = 64  # calls and steps of each optimizer


def near(one: float | None, other: float | None) -> bool:
    """Return True if two values are equal enough to be the same loss."""
    if one is None or other is None:
        return False
    return abs(one - other) <= NEAR * max(abs(one), abs(other), 1e-6)


def lost_terms(original: Trace, candidate: Trace, completed: int) -> str:
    """Describe a term of a loss that has lost its gradient in the patch; return an empty string if
    there is none.

    Compared are the losses that the original backpropagated whole before it failed (after
    `completed` calls), and the new terms of later losses.
    """
    for record in original.backwards:
        if record.call.n > completed and not record.repeated and record.new_terms > 1:
            alike = [r for r in candidate.backwards if not r.repeated and near(r.loss, record.loss)]
            if alike and max(r.new_terms for r in alike) < record.new_terms:
                return f"a term of line {record.call.at.line}'s loss is a number, without gradient"
        if record.call.n > completed or record.repeated or record.terms < 2:
            continue
        same = [
            r.terms for r in candidate.backwards if not r.repeated and near(r.loss, record.loss)
        ]
        if same and max(same) < record.terms:
            return (
                f"of {record.terms} terms of line {record.call.at.line}'s loss, "
                f"{record.terms - max(same)} got a gradient before the original failed, and get "
                "none any more"
            )
    return ""


def shortened(original: Trace, candidate: Trace, completed: int) -> str:
    """Describe a loss whose graph is smaller in the patch, although the original backpropagated it
    whole before it failed (after `completed` calls); return an empty string if there is none.
    """
    for record in original.backwards:
        if record.call.n > completed or record.repeated or record.outcome != "ok":
            continue
        alike = [r for r in candidate.backwards if not r.repeated and near(r.loss, record.loss)]
        if alike and max(r.nodes for r in alike) < record.nodes:
            return f"line {record.call.at.line}'s loss, which went backward before, leads to less"
    return ""


def wasted(original: Trace, candidate: Trace) -> str:
    """Describe weights whose gradient the patch computes and clears before any step takes it,
    although it trains them in the original; return an empty string if there are none. What the
    original clears in the same way is used otherwise, for example to find where the loss rises.
    """
    trained, cleared = _taken(original), _unused(original)
    ours = original.backwards[:LOOKED_AT]
    names = {p.id: p.name for p in candidate.parameters}
    unused, taken = _unused(candidate), _taken(candidate)
    theirs = candidate.backwards[:LOOKED_AT]
    for record in (r for r in theirs if r.call.n in unused and not r.repeated):
        alike = [r.call.n for r in theirs if near(r.loss, record.loss)]
        lost = unused[record.call.n].difference(*(taken.get(n, set()) for n in alike))
        same = [r.call.n for r in ours if near(r.loss, record.loss)]
        lost = lost.difference(*(cleared.get(n, set()) for n in same))
        if found := sorted(lost & set[int]().union(*(trained.get(n, set()) for n in same))):
            what = f"`{names[found[0]]}`" if names.get(found[0]) else "a parameter"
            line = record.call.at.line
            return f"the gradient of line {line}'s loss in {what} is cleared before a step takes it"
    return ""


def undifferentiated(original: Trace, candidate: Trace) -> str:
    """Describe gradients that were returned to be differentiated (`create_graph`) and that no later
    call of the patch goes through; return an empty string if there are none, or if the original
    leaves some of its own in the same way, or shows no use for them: it fails in a backward that
    goes through none, or the patch makes no other call. Gradients of a loss that went backward
    before are only looked at.
    """
    made = (r for r in candidate.backwards if r.has_graph and not r.repeated)
    lines = {r.call.n: r.call.at.line for r in made}
    used = {lines[n] for r in candidate.backwards for n in r.through if n in lines}
    calls = Counter(lines.values())
    idle = sorted(line for line in calls if calls[line] > 1 and line not in used)
    ours = [r.call.n for r in original.backwards if r.has_graph][:-1]
    used_before = {n for r in original.backwards for n in r.through}
    failed = [r.through for r in original.backwards if r.outcome == "raised"]
    others = any(not r.has_graph for r in candidate.backwards)
    if not (idle and others and all(failed)) or {*ours} - used_before:
        return ""
    return f"line {idle[0]} makes gradients with a graph, and no later backward goes through it"


def _unused(trace: Trace) -> dict[int, set[int]]:
    """Return, by backward call, the parameters in which its gradient was cleared before a step took
    it.
    """
    return {u.call: {*u.params} for step in trace.steps for u in step.unused}


def _taken(trace: Trace) -> dict[int, set[int]]:
    """Return, by backward call, the parameters in which a step of their optimizer took its
    gradient.
    """
    found: dict[int, set[int]] = defaultdict(set)
    for step in trace.steps:
        for gradient in step.gradients if step.optimizer >= 0 else ():
            for call in gradient.fed:
                found[call].add(gradient.param)
    return found


def feeds_others(original: Trace, candidate: Trace) -> bool:
    """Return True if a loss of the original has another value in the patch or is in none of its
    sums.
    """
    ours = [loss for _, loss in _new_losses(original)][:LOOKED_AT]
    theirs = [loss for _, loss in _new_losses(candidate)]
    if len(theirs) < len(ours):
        ours = ours[: max(len(theirs), 1)]
    return not all(_covered(ours, theirs)[0])


def loses_gradient(original: Trace, candidate: Trace) -> bool:
    """Return True if a step loses the gradients of its own loss: in the original, the last backward
    call before the step and another loss's call both feed its parameters; in the patch, only the
    other one does. A step belongs to the loss whose backward call is last before it.
    """
    for ours, theirs in islice(paired(original, candidate), LOOKED_AT):
        last, *others = _received(original, ours)
        shared = last & set[int]().union(*others) & {g.param for g in ours.gradients}
        if shared and not shared & _received(candidate, theirs)[0]:
            return True
    return False


def _received(trace: Trace, step: Step) -> list[set[int]]:
    """Return the parameters that received a gradient in the last call before a step, followed by
    those of each call on another line that feeds the step.
    """
    fed = {r.call.n: r for r in trace.backwards if r.call.n in step.fed}
    last = fed.get(step.after)
    if last is None:
        return [set()]
    others = (r for r in fed.values() if r.call.at.line != last.call.at.line)
    return [set(last.received), *(set(r.received) for r in others)]


def covered(original: Trace, candidate: Trace) -> Check:
    """Check that every loss that the original backpropagates is backpropagated by the patch, alone
    or in a sum or mean.

    A loss counts as left out only if all losses of the patch are explained by losses of the
    original.
    """
    ours = _new_losses(original)[:LOOKED_AT]
    theirs = [loss for _, loss in _new_losses(candidate)]
    if not ours or not theirs:
        return Check(name="covered", status="not_run", detail="no loss is a number")
    found_in, explained = _covered([loss for _, loss in ours], theirs)
    found_in = with_totals([loss for _, loss in ours], found_in)
    found_in = _with_carried([loss for _, loss in ours], found_in, sorted(theirs))
    lines = {line for line, _ in ours}
    lost = sorted(lines - {line for (line, _), found in zip(ours, found_in, strict=True) if found})
    if lost and explained:
        detail = f"the loss of line {lost[0]} gets no backward any more"
        return Check(name="covered", status="failed", detail=detail)
    if lost:
        detail = f"no backward call was seen with the value of line {lost[0]}'s loss"
        return Check(name="covered", status="not_run", detail=detail)
    many = counted(len(lines), "loss gets", "losses get")
    return Check(name="covered", status="passed", detail=f"{many} a backward")


def _new_losses(trace: Trace) -> list[tuple[int, float]]:
    """Return the line and the loss of each call whose graph was not used before."""
    return [
        (r.call.at.line, r.loss)
        for r in trace.backwards
        if r.outcome == "ok" and r.loss is not None and not r.repeated
    ]


def _covered(ours: Sequence[float], theirs: Sequence[float]) -> tuple[list[bool], bool]:
    """Return for each loss of `ours` whether `theirs` contain it, alone or in a sum or mean; and
    whether `ours` explain all of `theirs`.
    """
    known = sorted(theirs)
    found = [False] * len(ours)
    matched: list[float] = []
    for start in range(len(ours)):
        total = 0.0
        for end in range(start, len(ours)):
            total += ours[end]
            for value in {total, total / (end - start + 1)}:
                if _holds(known, value):
                    matched.append(value)
                    found[start : end + 1] = [True] * (end - start + 1)
    matched.sort()
    return found, all(_holds(matched, value) for value in known)


def with_totals(losses: Sequence[float], found_in: Sequence[bool]) -> list[bool]:
    """Return `found_in`, with a loss also counted if it is the sum of several losses that are."""
    found = list(found_in)
    for n, loss in enumerate(losses):
        sums = list(accumulate(reversed(losses[:n])))[1:]
        parts = (found_in[n - k : n] for k in range(2, n + 1))
        found[n] |= any(all(part) and near(loss, s) for part, s in zip(parts, sums, strict=True))
    return found


def _with_carried(
    losses: Sequence[float], found_in: Sequence[bool], known: Sequence[float]
) -> list[bool]:
    """Return `found_in`, with a loss also counted if it is an earlier one that is, carried in a
    total, plus a loss of `known`."""
    return [
        found or any(found_in[k] and _holds(known, loss - losses[k]) for k in range(n))
        for n, (loss, found) in enumerate(zip(losses, found_in, strict=True))
    ]


def _holds(known: Sequence[float], value: float) -> bool:
    """Return True if `known`, which is sorted, contains the value or one near it."""
    at = bisect_left(known, value)
    return any(near(one, value) for one in known[max(at - 1, 0) : at + 1])
