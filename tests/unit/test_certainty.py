"""Certainty is said in four levels, order is declared, and figures are made in one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from analyzers import certainty
from analyzers.certainty import Basis, Certainty, confidence
from analyzers.evidence import GraphReuse
from analyzers.explain.pattern import Match, before, patterns, usually
from analyzers.request.ranking import in_turns
from provenance import BackwardCall, CodeLine

AT = CodeLine("train.py", 3)
PIECE = GraphReuse(BackwardCall(AT, n=1), BackwardCall(AT, n=2), "observed")
ANALYZERS = Path(certainty.__file__).parent
JUDGING = [
    path
    for part in ("explain", "patterns", "repair", "request")
    for path in (ANALYZERS / part).rglob("*.py")
]


def names(*found: tuple[str, Certainty]) -> list[list[str]]:
    matches = [Match(name, level, PIECE, AT) for name, level in found]
    return [[match.pattern for match in turn] for turn in in_turns([matches])]


def test_a_surer_cause_comes_before_a_more_specific_one() -> None:
    assert "shared-subgraph" in before("undetached-target")
    found = names(("undetached-target", Certainty.POSSIBLE), ("shared-subgraph", Certainty.LIKELY))
    assert found == [["shared-subgraph"], ["undetached-target"]]


def test_of_one_level_the_more_specific_reading_comes_first() -> None:
    chain = ("shared-subgraph", "derived-outside-loop", "undetached-target")
    found = names(*((name, Certainty.LIKELY) for name in chain))
    assert found == [["undetached-target"], ["derived-outside-loop"], ["shared-subgraph"]]


def test_causes_that_nothing_sets_apart_are_tried_together() -> None:
    found = names(("stored-graph", Certainty.LIKELY), ("undetached-target", Certainty.LIKELY))
    assert found == [["stored-graph", "undetached-target"]]


def test_order_is_declared_between_readings_of_the_same_evidence_only() -> None:
    first = [Match("shared-subgraph", Certainty.LIKELY, PIECE, AT)]
    second = [Match("undetached-target", Certainty.LIKELY, PIECE, AT)]
    assert len(in_turns([first, second])) == 1


@pytest.mark.parametrize("name", patterns())
def test_what_a_pattern_comes_before_exists_and_does_not_come_before_it(name: str) -> None:
    assert before(name) <= patterns().keys()
    assert name not in set(_behind(name))


def _behind(name: str) -> Iterator[str]:
    """Whatever comes behind the pattern, by one declaration or several."""
    seen: set[str] = set()
    waiting = list(before(name))
    while waiting:
        following = waiting.pop()
        if following not in seen:
            seen.add(following)
            waiting += before(following)
            yield following


def test_a_message_alone_has_usual_causes_in_a_declared_order() -> None:
    assert usually()
    assert all(patterns()[name].FAMILY == "graph-reuse" for name in usually())


def test_figures_follow_the_levels_and_what_is_known() -> None:
    bases = get_args(Basis)
    for basis in bases:
        figures = [confidence(level, basis) for level in sorted(Certainty)]
        assert figures == sorted(set(figures))
        assert 0 < figures[0] < figures[-1] < 1
    for level in Certainty:
        falling = [confidence(level, basis) for basis in bases]
        assert falling == sorted(falling, reverse=True)


@pytest.mark.parametrize("path", JUDGING, ids=lambda path: str(path.relative_to(ANALYZERS)))
def test_no_cause_is_weighed_in_figures(path: Path) -> None:
    found = [
        (node.lineno, node.value)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, float)
    ]
    assert not found, f"{path.name}: say a level of `analyzers.certainty` instead of {found}"
