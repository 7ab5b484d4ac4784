"""Execution counts tell in which order cells ran, as far as anyone can know."""

from __future__ import annotations

import pytest

from analyzers.notebooks.notebook import to_project
from analyzers.notebooks.replay import MAX_RUNS, by_counts, extra_runs, repeated, replays
from tests.notebooks import code, notebook


@pytest.mark.parametrize(
    ("counts", "order"),
    [
        ([1, 2, 3], (1, 2, 3)),
        ([1, 2, 4], (1, 2, 3, 3)),
        ([1, 3, 4], (1, 2, 2, 3)),
        ([1, 3, 2], (1, 3, 2)),  # the second was first run last
        ([1, 4, 3], (1, 2, 3, 2)),  # the second ran before the third, and after it again
        ([1, 6, 4], (1, 2, 3, 3, 2, 2)),
        ([3, 4, 5], (1, 1, 1, 2, 3)),
        ([1, None, 2], (1, 3)),
        ([None, None, None], (1, 2, 3)),
        ([1, 2, 900], (1, 2) + (3,) * MAX_RUNS),
    ],
)
def test_a_gap_in_the_counts_is_an_earlier_run(
    counts: list[int | None], order: tuple[int, ...]
) -> None:
    _, lines = to_project(notebook(*(code("x = 1", count) for count in counts)))
    assert by_counts(lines) == order


def test_the_failing_cell_once_more_is_the_second_guess() -> None:
    _, lines = to_project(notebook(code("x = 1", 1), code("y = 2", 3), code("z = 3", 4)))
    assert replays(lines, None) == [(1, 2, 2, 3)]
    assert replays(lines, 3) == [(1, 2, 2, 3), (1, 2, 3, 3)]


def test_without_counts_only_the_error_reports() -> None:
    _, lines = to_project(notebook("x = 1", "y = 2"))
    assert replays(lines, None) == []
    assert replays(lines, 2) == [(1, 2, 2)]


def test_what_runs_beyond_once_is_reported_by_lines() -> None:
    _, lines = to_project(notebook("x = 1\ny = 2", "z = 3"))
    assert extra_runs((1, 2, 1, 2, 2), lines) == [(2, 3), (5, 5), (5, 5)]
    assert repeated((1, 2, 2)) == {"cell 2"}
