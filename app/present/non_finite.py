"""Say of a loss that became infinite or NaN where it did, and that the graph is not at fault."""

from __future__ import annotations

from itertools import pairwise

from analyzers.explain.listed import some
from app.present.basis import is_completed
from app.request.case import Case
from app.run.observation import Observation
from app.schemas import Cause, NextStep, NonFiniteLoss
from sandbox.records import NonFinite

_SYNTHESIZED = " What is missing was synthesized, so your own run may not do this."
_DIVERGES = 10  # times the loss before, each time


def is_answer(seen: Observation, case: Case) -> bool:
    """Return True if a run without an error, about which nothing was asked, had such a loss."""
    clean = seen.ran_clean or seen.followed
    return clean and not case.is_error_given and _found(seen) is not None


def reported(seen: Observation, case: Case) -> NonFiniteLoss | None:
    """Return the same as the API's model."""
    record = _found(seen)
    if record is None:
        return None
    at = record.call.at
    return NonFiniteLoss(
        file=at.file,
        line=at.line,
        code=case.project.code(at.file, at.line),
        cell=case.cell_of(at),
        value=record.value,
        iteration=record.call.iteration,
        before=list(record.before),
    )


def sentences(seen: Observation, case: Case) -> str:
    """Return where and when the loss became non-finite, and how; "" if it did not."""
    record = _found(seen)
    if record is None:
        return ""
    at = record.call.at
    before = ", ".join(f"{loss:.3g}" for loss in record.before)
    after = f" after {before}" if before else ""
    return (
        f"The loss became {record.value} at iteration {record.call.iteration} of "
        f"{case.cell_of(at) or f'line {at.line}'}{after}. {_how(record)}"
        f"{_SYNTHESIZED if is_completed(case, seen) else ''}"
    )


def notes(seen: Observation, case: Case, causes: list[Cause]) -> list[str]:
    """Return the same where something else is the answer."""
    lost = "" if is_answer(seen, case) and not causes else sentences(seen, case)
    return [lost] if lost else []


def next_step(seen: Observation) -> NextStep | None:
    """Return what to do about it."""
    record = _found(seen)
    if record is None:
        return None
    if _diverges(record):
        text = "Use a smaller learning rate, or clip the gradients before the step."
    elif record.params:
        text = (
            "Run it under `torch.autograd.set_detect_anomaly(True)`: that names the operation "
            "whose gradient is NaN."
        )
    else:
        text = (
            "Look at what the loss is computed from: `log` or `sqrt` of a value that is not "
            "positive, a division by 0, or data that are NaN."
        )
    return NextStep(kind="lines", text=text)


def _how(record: NonFinite) -> str:
    if _diverges(record):
        return "It grew from step to step: the training diverges."
    if record.params:
        return f"The step before had written such values into {some(record.params)}."
    return "All parameters were finite as it was computed."


def _diverges(record: NonFinite) -> bool:
    losses = [abs(loss) for loss in record.before]
    return len(losses) > 1 and all(b > _DIVERGES * a for a, b in pairwise(losses))


def _found(seen: Observation) -> NonFinite | None:
    return seen.trace.non_finite if seen.trace is not None and seen.plan is None else None
