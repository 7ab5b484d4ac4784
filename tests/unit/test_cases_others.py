"""The in-place, no-grad and silent cases are what they claim to be: run in plain Python."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.case_files import ROOT, Case, load_cases
from tests.probe import Record, compare, judge, run

INPLACE = (
    "step-between-backwards",
    "inplace-activation",
    "inplace-leaf",
    "inplace-view",
    "inplace-state",
)
NO_GRAD = (
    "detached-loss",
    "non-scalar-backward",
    "leaf-rebound",
    "nonleaf-grad",
    "unused-parameter",
    "numpy-on-grad",
    "deepcopy-nonleaf",
)
SILENT = (
    "growing-history",
    "retain-graph-leak",
    "aliased-grad",
    "missing-zero-grad",
    "starved-parameter",
)
DIRECTORIES = {name.replace("-", "_") for name in INPLACE + NO_GRAD + SILENT} | {"none"}
CASES = [case for case in load_cases() if case.name.split("/")[0] in DIRECTORIES]
FAILING = [case for case in CASES if not case.healthy]
RAISING = [case for case in FAILING if case.raises != "nothing"]
QUIET = [case for case in FAILING if case.raises == "nothing"]
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


@pytest.mark.parametrize("case", RAISING, ids=label)
def test_a_raising_case_raises_what_it_says(case: Case) -> None:
    record = run_once(case.path)
    assert case.raises is not None
    assert record.error is not None
    assert record.error.startswith(case.raises)


@pytest.mark.parametrize("case", QUIET, ids=label)
def test_a_silent_case_runs_clean_and_goes_wrong(case: Case) -> None:
    record = run_once(case.path)
    assert record.error is None
    assert judge(record, accepted(case)) != []
    assert case.pattern in SILENT


@pytest.mark.parametrize("case", HEALTHY, ids=label)
def test_a_healthy_case_runs_clean(case: Case) -> None:
    assert run_once(case.path).error is None


@pytest.mark.parametrize("case", FAILING, ids=label)
def test_a_failing_case_names_its_answers(case: Case) -> None:
    assert case.fixed
    assert case.carriers
    assert case.places
    directory = case.name.split("/")[0].replace("_", "-")
    assert directory in (case.pattern, *case.also)
    assert set(case.pattern.split()) <= set(INPLACE + NO_GRAD + SILENT)


@pytest.mark.parametrize(("case", "path"), REPAIRS, ids=label)
def test_a_fix_passes_the_probe(case: Case, path: Path) -> None:
    record = run_once(path)
    assert compare(record, record) == []
    assert judge(run(path), accepted(case)) == []


@pytest.mark.parametrize(("case", "path"), REFUSED, ids=label)
def test_a_wrong_fix_is_refused(case: Case, path: Path) -> None:
    assert judge(run_once(path), accepted(case)) != []


@pytest.mark.parametrize("pattern", INPLACE + NO_GRAD + SILENT)
def test_every_pattern_has_failing_and_healthy_cases(pattern: str) -> None:
    here = [case for case in CASES if case.name.startswith(pattern.replace("-", "_") + "/")]
    assert sum(not case.healthy for case in here) >= 3
    assert sum(case.healthy for case in here) >= 3
