"""Differences of lines: right for all texts, and no slower than their length asks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.source import linediff
from analyzers.source.edits import unified_diff
from analyzers.source.linediff import changed_lines, matching_blocks

LINES = st.lists(st.sampled_from(["a", "b", "", "x = 1"]), max_size=40)


def holds(before: list[str], after: list[str]) -> None:
    """The blocks are equal runs, in order, with the empty one at the end."""
    blocks = matching_blocks(before, after)
    x = y = 0
    for a, b, size in blocks:
        assert (a, b) >= (x, y)
        assert before[a : a + size] == after[b : b + size]
        x, y = a + size, b + size
    assert tuple(blocks[-1]) == (len(before), len(after), 0)


@given(LINES, LINES)
def test_blocks_are_equal_runs(before: list[str], after: list[str]) -> None:
    holds(before, after)


@given(LINES, LINES)
@settings(max_examples=200)
def test_long_texts_are_matched_as_well_as_short_ones(before: list[str], after: list[str]) -> None:
    """By the way of long texts as few lines are replaced as there can be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linediff, "_SHORT", -1)
        patch.setattr(linediff, "_LOOKS_PER_LINE", 10**6)
        holds(before, after)
        greedy = sum(size for _, _, size in matching_blocks(before, after))
    assert greedy >= sum(size for _, _, size in matching_blocks(before, after))


def test_two_edits_far_apart_in_equal_lines_change_two_lines() -> None:
    middle = "0\n" * 50_000
    assert changed_lines(f"first\n{middle}last\n", f"First\n{middle}Last\n") == 2


def test_texts_without_a_common_line_are_replaced() -> None:
    before, after = "a\n" * 5000, "b\n" * 4000
    assert changed_lines(before, after) == 5000


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\nb", "a\nb\nc"),
        ("a", "a\n"),
        ("", "a\n"),
        ("0\n" * 500 + "x\n" + "0\n" * 500, "0\n" * 499 + "y\n" + "0\n" * 500 + "z"),
    ],
)
def test_git_applies_the_diff(tmp_path: Path, before: str, after: str) -> None:
    (tmp_path / "train.py").write_text(before)
    diff = unified_diff("train.py", before, after)
    (tmp_path / "patch.diff").write_text(diff)
    command = ["patch", "-p1", "-i", "patch.diff"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "train.py").read_text() == after
