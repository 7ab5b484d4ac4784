"""The accuracy benchmark's own judgement: right answers score, wrong ones are told."""

from __future__ import annotations

import json

import pytest

from app.schemas import Carrier, Cause, Findings, Patch, Spot, Verification
from benchmarks.baselines import retain_everywhere
from benchmarks.plain import Line
from benchmarks.scoring import is_place, score
from benchmarks.telling import first_contact
from benchmarks.trials import Trial, prepare, prepared, run_files
from tests.case_files import ROOT, load_case
from tests.probe import compare

CASE = load_case(ROOT / "inplace_leaf" / "manual_sgd.py")
HEALTHY = load_case(ROOT / "inplace_leaf" / "ok_manual_sgd_no_grad.py")


@pytest.fixture(scope="module")
def trial() -> Trial:
    return prepare(CASE)


def cause(pattern: str, line: int, carrier: str) -> Cause:
    return Cause(
        pattern=pattern,
        title="",
        confidence=1,
        source="trace",
        location=Spot(file="train.py", line=line),
        carrier=Carrier(name=carrier, file="train.py", line=line),
        explanation="",
        learn_more="",
    )


def patch(script: str) -> Patch:
    return Patch(
        n=1,
        strategy="any",
        title="",
        diff="",
        script=script,
        snippet="",
        gradients="same",
        verification=Verification(status="passed"),
    )


def test_the_traceback_is_the_one_python_prints(trial: Trial) -> None:
    assert trial.request.traceback.startswith("Traceback (most recent call last):\n")
    assert CASE.raises is not None
    assert CASE.raises in trial.request.traceback
    assert "runpy" not in trial.request.traceback
    assert is_place(CASE, trial.sight.last)


def test_a_right_diagnosis_scores_everywhere(trial: Trial) -> None:
    line = CASE.places[0].line
    found = Findings(
        causes=[cause("inplace-leaf", line, "w")], patches=[patch(CASE.fixed[0].read_text())]
    )
    result = score(trial, found)
    assert (result.pattern, result.place, result.carrier, result.patch) == (True,) * 4
    assert result.wrong == []


def test_a_wrong_diagnosis_scores_nowhere(trial: Trial) -> None:
    found = Findings(
        causes=[cause("inplace-view", 1, "x")], patches=[patch(CASE.wrong[0].read_text())]
    )
    result = score(trial, found)
    assert (result.pattern, result.place, result.carrier, result.patch) == (False,) * 4
    assert len(result.wrong) == 4


def test_a_row_at_first_contact_counts_wrong_patches_that_were_said_to_pass(trial: Trial) -> None:
    found = Findings(patches=[patch(CASE.wrong[0].read_text())])
    healthy = prepared(HEALTHY, ())
    scores = [score(trial, found), score(healthy, Findings(verdict="healthy"))]
    (row,) = first_contact(["batch", "today", "abc"], [trial, healthy], {"running": scores})
    assert (
        row
        == "| batch | today | abc | running | 1 | 0/1   0% | 0/1   0% | 0/1   0% | 1 | 1 | 0 | 1 |"
    )


def test_a_script_returned_unchanged_is_no_patch(trial: Trial) -> None:
    assert not score(trial, Findings(patches=[patch(CASE.stripped)])).patch


def test_blame_in_a_healthy_script_is_counted() -> None:
    healthy = prepare(HEALTHY)
    assert healthy.request.traceback == ""
    assert not score(healthy, Findings()).blamed
    assert score(healthy, Findings(causes=[cause("inplace-leaf", 3, "p")])).blamed


def test_retaining_reaches_every_backward_and_nothing_else() -> None:
    kept = retain_everywhere(
        "train.py", "a.backward()\nb.backward(g, retain_graph=False)\nstep()\n"
    )
    assert kept == "a.backward(retain_graph=True)\nb.backward(g, retain_graph=True)\nstep()"
    cells = {"cells": [{"cell_type": "code", "source": ["loss.backward()"]}]}
    notebook = json.loads(retain_everywhere("train.ipynb", json.dumps(cells)))
    assert notebook["cells"][0]["source"] == ["loss.backward(retain_graph=True)"]


def test_a_project_runs_as_its_script_does() -> None:
    alone = run_files({"train.py": HEALTHY.stripped}, "train.py")
    assert compare(alone, run_files({"train.py": HEALTHY.path.read_text()}, "train.py")) == []


def test_a_place_needs_the_file_as_well_as_the_line() -> None:
    line = CASE.places[0].line
    assert is_place(CASE, Line("train.py", line, ""))
    assert not is_place(CASE, Line("model.py", line, ""))
    assert not is_place(CASE, None)
