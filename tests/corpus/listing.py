"""The cases as parameters of tests, found in the sheets of `tests/cases`."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.case_files import Case, load_cases

CASES = load_cases()
HEALTHY = [case for case in CASES if case.healthy]
FAILING = [case for case in CASES if not case.healthy]


def each(cases: Iterable[Case]) -> pytest.MarkDecorator:
    """One test for each case, as `case`."""
    return pytest.mark.parametrize(
        "case", [pytest.param(case, id=case.name, marks=_together(case)) for case in cases]
    )


def each_variant(kind: str) -> pytest.MarkDecorator:
    """One test for each `fixed` or `wrong` variant of a failing case, as `case` and `variant`."""
    variants = [(case, variant) for case in FAILING for variant in getattr(case, kind)]
    return pytest.mark.parametrize(
        ("case", "variant"),
        [
            pytest.param(case, variant, id=f"{case.name}.{variant.name}", marks=_together(case))
            for case, variant in variants
        ],
    )


def _together(case: Case) -> pytest.MarkDecorator:
    """Tests of one case stay in one process and share its runs."""
    return pytest.mark.xdist_group(case.name)
