"""The details by which the tracer and static analysis distinguish kinds of silent faults."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def sentences(path: Path) -> dict[str, str]:
    """The sentences that a module has as constants, by their names."""
    return {
        node.targets[0].id: node.value.value
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        and " " in node.value.value
    }


SAID = sentences(ROOT / "sandbox/inside/detectors/details.py")
READ = [
    (path.relative_to(ROOT).as_posix(), name, text)
    for path in sorted(ROOT.glob("analyzers/**/*.py"))
    for name, text in sentences(path).items()
    if name in SAID
]


@pytest.mark.parametrize(("path", "name", "text"), READ)
def test_both_sides_say_the_same(path: str, name: str, text: str) -> None:
    assert text == SAID[name]


def test_the_details_that_static_analysis_distinguishes_are_found() -> None:
    assert len({name for _, name, _ in READ}) >= 13
