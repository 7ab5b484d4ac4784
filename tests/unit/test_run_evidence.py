"""When the reading confirms what a run observed."""

from __future__ import annotations

import pytest

from analyzers.evidence import Evidence, GraphReuse, MissingGraph, SilentFault
from app.run.run_evidence import confirmed_evidence
from provenance import BackwardCall, CodeLine

AT = CodeLine("train.py", 3)
ELSEWHERE = CodeLine("train.py", 8)


def reuse(freed: CodeLine, reached: CodeLine) -> GraphReuse:
    return GraphReuse(BackwardCall(freed), BackwardCall(reached), "observed")


@pytest.mark.parametrize(
    ("observed", "predicted", "how"),
    [
        (reuse(AT, ELSEWHERE), reuse(ELSEWHERE, ELSEWHERE), "confirmed"),
        (reuse(AT, ELSEWHERE), reuse(AT, AT), "observed"),
        (MissingGraph("observed", at=AT), MissingGraph("predicted", at=AT), "confirmed"),
        (MissingGraph("observed", at=AT), MissingGraph("predicted", at=ELSEWHERE), "observed"),
        (
            MissingGraph("observed", at=AT),
            SilentFault("unfed-parameters", "predicted", AT),
            "observed",
        ),
        (
            SilentFault("unfed-parameters", "observed"),
            SilentFault("unfed-parameters", "predicted", AT),
            "confirmed",
        ),
        (
            SilentFault("growing-graph", "observed", AT),
            SilentFault("reaching-back", "predicted", AT),
            "observed",
        ),
        (
            SilentFault("growing-graph", "observed", AT),
            SilentFault("growing-graph", "predicted", ELSEWHERE),
            "observed",
        ),
    ],
)
def test_two_witnesses_agree_on_what_happened_where(
    observed: Evidence, predicted: Evidence, how: str
) -> None:
    (reported,) = confirmed_evidence([observed], [predicted])
    assert reported.how == how


def test_what_only_reading_predicted_is_dropped() -> None:
    assert confirmed_evidence([], [MissingGraph("predicted", at=AT)]) == ()
