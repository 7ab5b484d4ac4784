"""The graph-reuse cases are what they claim to be: run in plain Python, without the service."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.case_files import ROOT, Case, Place, load_cases
from tests.probe import Record, compare, judge, run

PATTERNS = (
    "recurrent-state",
    "manual-tbptt",
    "stored-graph",
    "shared-subgraph",
    "duplicate-backward",
    "per-sample-loop",
    "forward-outside-loop",
    "derived-outside-loop",
    "accumulated-loss",
    "undetached-target",
    "lbfgs-closure",
    "grad-then-backward",
    "higher-order",
    "notebook-rerun",
)
DIRECTORIES = {name.replace("-", "_") for name in PATTERNS} | {"engine"}
CASES = [case for case in load_cases() if case.name.split("/")[0] in DIRECTORIES]
FAILING = [case for case in CASES if not case.healthy]
HEALTHY = [case for case in CASES if case.healthy]
REPAIRS = [(case, path) for case in FAILING for path in case.fixed]
REFUSED = [(case, path) for case in FAILING for path in case.wrong]

run_once = cache(run)


def accepted(case: Case) -> list[Record]:
    return [run_once(path) for path in case.fixed]


def label(value: object) -> str:
    if isinstance(value, Case):
        return value.name
    return Path(str(value)).relative_to(ROOT).as_posix()


def _frame_file(place: Place) -> str:
    return place.file if place.cell is None else f"cell {place.cell}"


@pytest.mark.parametrize("case", FAILING, ids=label)
def test_a_failing_case_raises_what_it_says_where_it_says(case: Case) -> None:
    record = run_once(case.path)
    assert case.raises is not None
    assert record.error is not None
    assert record.error.startswith(case.raises)
    assert case.pattern in PATTERNS
    assert case.carriers
    frames = set(record.lines)
    assert frames & {(_frame_file(place), place.line) for place in case.places}


@pytest.mark.parametrize("case", HEALTHY, ids=label)
def test_a_healthy_case_runs_clean(case: Case) -> None:
    assert run_once(case.path).error is None


@pytest.mark.parametrize("case", FAILING, ids=label)
def test_every_failing_case_has_a_fix(case: Case) -> None:
    assert case.fixed


@pytest.mark.parametrize(("case", "path"), REPAIRS, ids=label)
def test_a_fix_passes_the_probe(case: Case, path: Path) -> None:
    record = run_once(path)
    assert compare(record, record) == []
    assert judge(run(path), accepted(case)) == []


@pytest.mark.parametrize(("case", "path"), REFUSED, ids=label)
def test_a_wrong_fix_is_refused(case: Case, path: Path) -> None:
    assert judge(run_once(path), accepted(case)) != []
