"""What a run that ended well shows of its own training, without another run to compare it with."""

from __future__ import annotations

from app.repair import numerical
from app.repair.checks import bounded, fresh
from app.repair.learning import learns
from app.schemas import Check
from sandbox.records import Trace


def own_checks(trace: Trace | None) -> list[Check]:
    """Return the checks of a fix that need no original: who learns, from which weights, whether
    graphs grow, and whether the script's own Functions return derivatives.
    """
    compared = numerical.check_of(trace.gradchecks if trace is not None else [])
    checks = [learns(None, trace), fresh(trace), bounded(trace)]
    return [*checks, compared] if compared is not None else checks
