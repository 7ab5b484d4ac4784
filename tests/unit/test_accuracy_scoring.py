"""The accuracy benchmark's own judgement: right answers score, wrong ones are reported."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from app.schemas import Carrier, Cause, Findings, Location, Patch, Verification
from benchmarks.accuracy_tables import first_contact, levels
from benchmarks.baselines import retain_everywhere
from benchmarks.plain import Line
from benchmarks.scoring import Score, is_place, score
from benchmarks.totals import RECORD, report, rows, threads
from benchmarks.trials import Trial, prepare
from tests.case_files import load_case
from tests.plain_runs import run_files, run_once

CASE = load_case("inplace_leaf/manual_sgd")
HEALTHY = load_case("inplace_leaf/ok_manual_sgd_no_grad")


@pytest.fixture(scope="module")
def trial() -> Trial:
    return prepare(CASE)


def cause(pattern: str, line: int, carrier: str) -> Cause:
    return Cause(
        pattern=pattern,
        title="",
        confidence=1,
        source="trace",
        location=Location(file="train.py", line=line),
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
    found = Findings(causes=[cause("inplace-leaf", line, "w")], patches=[patch(CASE.fixed[0].text)])
    result = score(trial, found)
    assert (result.pattern, result.place, result.carrier, result.patch) == (True,) * 4
    assert result.wrong == []


def test_a_wrong_diagnosis_scores_nowhere(trial: Trial) -> None:
    found = Findings(causes=[cause("inplace-view", 1, "x")], patches=[patch(CASE.wrong[0].text)])
    result = score(trial, found)
    assert (result.pattern, result.place, result.carrier, result.patch) == (False,) * 4
    assert len(result.wrong) == 4


def test_a_row_at_first_contact_counts_wrong_patches_that_were_said_to_pass(trial: Trial) -> None:
    found = Findings(patches=[patch(CASE.wrong[0].text)])
    healthy = prepare(HEALTHY)
    scores = [score(trial, found), score(healthy, Findings(verdict="healthy"))]
    row, *others = first_contact(["batch", "today", "abc"], [trial, healthy], {"running": scores})
    assert others == []  # no fault among them is silent
    assert (
        row
        == "| batch | today | abc | running | 1 | 0/1   0% | 0/1   0% | 0/1   0% | 1 | 1 | 0 | 1 |"
    )


def test_silent_faults_that_are_called_healthy_are_counted(trial: Trial) -> None:
    silent = replace(trial, case=replace(CASE, raises="nothing"))
    scores = [score(trial, Findings(verdict="healthy")) for _ in range(3)]
    trials = [trial, silent, silent]
    *_, row = first_contact(["batch", "today", "abc"], trials, {"run": scores, "running": scores})
    assert row == "| batch | today | abc | silent | 2 | 2 |"


def test_readme_and_the_page_on_accuracy_hold_the_totals() -> None:
    root = Path(__file__).parents[2]
    page, readme = ((root / name).read_text() for name in ("docs/accuracy.md", "README.md"))
    lines = [line for line in report(rows(RECORD.read_text())) if line]
    assert len(lines) == 6
    for line in lines:
        assert line in (page if line.startswith("|") else " ".join(page.split()))
        assert line in readme or not line.startswith("|")
    (sentence,) = threads(RECORD.read_text())
    assert sentence in re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", " ".join(readme.split()))


LOTS = """\
Lot J, by address, which is too old to count:

| thread | year | family | answer | what was wrong |
|---|---|---|---|---|
| a/b#1 | 2020 | silent | right | |

Lot K, by address:

| thread | year | family | answer | what was wrong |
|---|---|---|---|---|
| a/b#2 | 2020 | silent | right, wrong patch | the first patch |
| a/b#3 | 2020 | silent | partly | the line |

Lot M, by address:

| thread | year | family | answer | what was wrong |
|---|---|---|---|---|
| a/b#4 | 2020 | silent | right | |
"""


def test_threads_are_counted_over_the_last_lots() -> None:
    assert list(threads(LOTS)) == [
        "Public threads are harder: of the last 3, pasted unedited, 2 got the right answer "
        "(lots K to M)."
    ]


ROWS = """\
| batch | date | commit | answer |
| batch59 | then | a | running | 9 | 9/9 100% | 9/9 100% | 9/9 100% | 0 | 1 | 0 | 1 |
| batch60 | then | a | running | 4 | 3/4  75% | 4/4 100% | 2/4  50% | 1 | 1 | 0 | 1 |
| batch60 | then | a | reading | 4 | 1/4  25% | 2/4  50% | 0/4   0% | 0 | 1 | 1 | 0 |
| batch60 | then | a | silent | 2 | 1 |
| batch61 | then | b | fragments | 3 | 67% | 33% | 0% | 0% | |
| batch61 | then | b | projects | 1 | 100% | 0% | 0% | 0% | |
| batch61 | then | b | healthy | 2 | | | | | 1 |
| batch62 | then | c | running | 6 | 6/6 100% | 6/6 100% | 6/6 100% | 0 | 0 | 0 | 0 |
| batch62 | then | c | reading | 6 | 6/6 100% | 6/6 100% | 6/6 100% | 0 | 0 | 0 | 0 |
| batch63 | then | d | fragments | 2 | 50% | 50% | 50% | 0% | |
"""


def test_rows_are_added_up() -> None:
    assert list(report(rows(ROWS))) == [
        "| whole scripts, run (60 to 62) | 10 | 90% | 100% | 80% |",
        "| whole scripts, only read (60 to 62) | 10 | 70% | 80% | 60% |",
        "| pasted fragments (61 to 63) | 5 | 60% | 40% | 20% tested |",
        "| incomplete projects (61 to 61) | 1 | 100% | 0% | 0% tested |",
        "",
        "Of the first patches for these 10 scripts, 8 are right; 1 passed the checks but train "
        "something else. Gradmend called 1 of the 2 silent faults healthy.",
        "It blamed 0 of 1 healthy scripts when it ran them, and 1 when it only read them. "
        "It blamed 1 of 2 healthy pasted texts.",
    ]


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
    from tests.probe import compare  # imports what only optimizers need

    alone = run_files({"train.py": HEALTHY.stripped})
    assert compare(alone, run_once(HEALTHY)) == []


def test_a_place_needs_the_file_as_well_as_the_line() -> None:
    line = CASE.places[0].line
    assert is_place(CASE, Line("train.py", line, ""))
    assert not is_place(CASE, Line("model.py", line, ""))
    assert not is_place(CASE, None)


def test_the_precision_of_each_level_is_reported() -> None:
    results = [
        Score("confirmed", True, patch=True, level="safe"),
        Score("confirmed", True, patch=False, level="safe"),
        Score("likely", True, patch=True, level="display_only"),
        Score("confirmed", True),
    ]
    head, safe, unsafe, displayed = (line.split() for line in levels(results))
    assert head[-1] == "right"
    assert safe == ["safe", "1/2", "50%"]
    assert unsafe == ["unsafe", "-"]
    assert displayed == ["display_only", "1/1", "100%"]
