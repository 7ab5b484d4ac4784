"""Every case is what it claims to be: run in plain Python, without the service."""

from __future__ import annotations

from collections import defaultdict

import pytest

from analyzers.explain.pattern import patterns
from tests.case_files import Case, Place, Variant
from tests.corpus.listing import CASES, FAILING, HEALTHY, each, each_variant
from tests.plain_runs import PlainRuns

RAISING = [case for case in FAILING if case.raises != "nothing"]
SILENT = [case for case in FAILING if case.raises == "nothing"]
FOLDERS: dict[str, list[Case]] = defaultdict(list)
for _case in CASES:
    FOLDERS[_case.folder].append(_case)


def frame_file(place: Place) -> str:
    """The file that a frame of this place names."""
    return place.file if place.cell is None else f"cell {place.cell}"


@each(RAISING)
def test_a_raising_case_raises_what_it_says(case: Case, plain: PlainRuns) -> None:
    record = plain.outcome(case)
    assert case.raises is not None
    assert record.error is not None
    assert record.error.startswith(case.raises)
    if patterns()[case.pattern].FAMILY == "graph-reuse":
        assert set(record.lines) & {(frame_file(place), place.line) for place in case.places}


@each(SILENT)
def test_a_silent_case_runs_clean_and_goes_wrong(case: Case, plain: PlainRuns) -> None:
    record = plain.outcome(case, case.fixed)
    assert record.error is None
    assert record.objections
    assert patterns()[case.pattern].FAMILY == "silent"


@each(HEALTHY)
def test_a_healthy_case_runs_clean(case: Case, plain: PlainRuns) -> None:
    assert plain.outcome(case).error is None


@each(FAILING)
def test_a_failing_case_names_its_answers(case: Case) -> None:
    assert case.fixed
    assert case.carriers
    assert case.places
    assert {case.pattern, *case.also} <= patterns().keys()


@each_variant("fixed")
def test_a_fix_runs_clean_learns_and_stays_level(
    case: Case, variant: Variant, plain: PlainRuns
) -> None:
    assert plain.outcome(variant).faults == []


@each_variant("wrong")
def test_a_wrong_fix_is_refused(case: Case, variant: Variant, plain: PlainRuns) -> None:
    assert plain.outcome(variant, case.fixed).objections


@pytest.mark.parametrize("name", sorted(patterns()))
def test_every_pattern_has_failing_and_healthy_cases(name: str) -> None:
    here = FOLDERS[name.replace("-", "_")]
    assert sum(not case.healthy for case in here) >= 3
    assert sum(case.healthy for case in here) >= 3


def test_every_folder_is_named_for_what_its_cases_show() -> None:
    """`engine` and `none` are no patterns: hand-written engines, and scripts without a fault."""
    strays = [
        case.name
        for folder, cases in FOLDERS.items()
        for case in cases
        if not case.healthy
        and folder != "engine"
        and folder.replace("_", "-") not in (case.pattern, *case.also)
    ]
    assert not strays
    known = {name.replace("-", "_") for name in patterns()} | {"engine", "none"}
    assert FOLDERS.keys() <= known
