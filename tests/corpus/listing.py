"""The cases as parameters of tests, found in the folders of `tests/cases`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from tests.case_files import ROOT, Case, load_cases
from tests.probe import Record, run

CASES = load_cases()
HEALTHY = [case for case in CASES if case.healthy]
FAILING = [case for case in CASES if not case.healthy]

run_once = cache(run)  # tests of one case stay in one process and share its runs


def each(cases: Iterable[Case]) -> pytest.MarkDecorator:
    """One test for each case, as `case`."""
    return pytest.mark.parametrize(
        "case", [pytest.param(case, id=case.name, marks=_together(case)) for case in cases]
    )


def each_variant(kind: str) -> pytest.MarkDecorator:
    """One test for each `fixed` or `wrong` variant of a failing case, as `case` and `path`."""
    variants = [(case, path) for case in FAILING for path in getattr(case, kind)]
    return pytest.mark.parametrize(
        ("case", "path"),
        [
            pytest.param(case, path, id=_short(path), marks=_together(case))
            for case, path in variants
        ],
    )


def accepted(case: Case) -> list[Record]:
    """What its right repairs do."""
    return [run_once(path) for path in case.fixed]


def _short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _together(case: Case) -> pytest.MarkDecorator:
    return pytest.mark.xdist_group(case.name)
