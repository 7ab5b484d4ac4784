"""What is said to do next: something, wherever no cause was found."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from analyzers.evidence import GraphReuse
from analyzers.source.project import Project
from app.present.next_steps import next_steps
from app.request.case import Case
from app.run.observation import Observation
from provenance import BackwardCall, CodeLine, Node, StaleEdge

SCRIPT = "h = net(x)\na, b = head(h), tail(h)\na.backward()\nb.backward()\n"


def seen_reuse() -> GraphReuse:
    freed, reached = (
        BackwardCall(at=CodeLine("train.py", line, "<module>"), n=line, kind="backward")
        for line in (3, 4)
    )
    made = StaleEdge(
        old=Node(op="Relu", at=CodeLine("train.py", 1, "<module>")), new=None, raising=None
    )
    return GraphReuse(freed=freed, reached=reached, how="confirmed", stale_edges=(made,))


def case_of(script: str) -> Case:
    case = SimpleNamespace(
        project=Project({"train.py": script}, "train.py"),
        notebook=None,
        traceback=None,
        hints=(),
        others=0,
        fault=None,
        no_program=False,
        cell_of=lambda place: None,
    )
    return cast(Case, case)


def test_an_error_that_no_pattern_explains_is_reported_by_its_lines() -> None:
    seen = Observation(None, None, (seen_reuse(),))
    (step,) = next_steps("inconclusive", case_of(SCRIPT), seen, [])
    assert step.kind == "lines"
    assert step.value == "h = net(x)"
    assert step.text.startswith("Line 1: the backward at line 3 of `train.py` freed")
    assert next_steps("confirmed", case_of(SCRIPT), seen, []) == []


def test_there_is_a_step_where_nothing_else_is_known() -> None:
    at_nothing = GraphReuse(
        freed=BackwardCall(at=CodeLine("", 0, "")),
        reached=BackwardCall(at=CodeLine("", 0, "")),
        how="observed",
    )
    (step,) = next_steps("inconclusive", case_of(""), Observation(None, None, (at_nothing,)), [])
    assert (step.field, "traceback" in step.text) == ("traceback", True)
