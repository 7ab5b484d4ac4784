"""What is said of `retain_graph=True`, which the message of a second backward call advises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.schemas import Findings, Patch


@dataclass(frozen=True, slots=True)
class Advice:
    """A question and its answer, in Markdown."""

    question: str
    text: str


_HIDES = Advice(
    "Why not `retain_graph=True`?",
    "It hides the message and keeps the fault: each iteration then goes back through all those "
    "before it, so time and memory grow with each one, and after `optimizer.step()` the old graph "
    "holds weights that have changed since, which fails next. It is right only where two backward "
    "calls really are meant to share one forward pass, before any step.",
)
_RIGHT = Advice(
    "Why is `retain_graph` right here?",
    "These backward calls share one forward pass, and no step comes between them. The graph is "
    "kept for those that follow, and freed with the last of them or with the next iteration. Where "
    "a graph is kept from one iteration to the next, `retain_graph=True` would only hide the "
    "fault.",
)


def advice(found: Findings) -> Advice | None:
    """Return what to say of it, if the error is the one whose message advises it."""
    if found.error is None or found.error.family != "graph-reuse":
        return None
    return _RIGHT if _retains(found.patches[:1]) else _HIDES


def _retains(patches: Sequence[Patch]) -> bool:
    """Return True if the best fix has passed and keeps a graph that the original did not."""
    lines = [
        line for patch in patches for line in patch.diff.splitlines() if "retain_graph" in line
    ]
    passed = any(patch.verification.status == "passed" for patch in patches)
    added = sum(line.startswith("+") for line in lines)
    return passed and added > sum(line.startswith("-") for line in lines)
