"""Cases that `benchmarks.metamorphic` writes otherwise are fixed as they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analyzers.reading import read
from analyzers.request.causes import Candidate, classify
from analyzers.request.ranking import candidates_of
from analyzers.source.project import Project
from benchmarks.rewritings import rewritten
from tests.case_files import load_cases
from tests.fixing import Recognised, recognise
from tests.tracing import Tracing

CASES = {case.name: case for case in load_cases()}
ATTRIBUTES, WHILE = "globals as attributes", "`for` as `while`"


def _found(traced: Tracing, name: str, way: str) -> Recognised:
    text = rewritten(CASES[name].stripped, way)
    assert text is not None
    found = recognise(traced, text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "way", "strategy"),
    [
        ("derived_outside_loop/mesh_deformation", ATTRIBUTES, "forward-into-loop"),
        ("duplicate_backward/averaged_and_walked", ATTRIBUTES, "drop-first-backward"),
        ("unused_parameter/clip_by_hand", WHILE, "skip-gradless"),
        ("recurrent_state/generator_pipeline", "all of it in a class", "detach-behind-yield"),
    ],
)
def test_named_and_fixed_as_it_is(traced: Tracing, name: str, way: str, strategy: str) -> None:
    found = _found(traced, name, way)
    assert found.match.pattern == CASES[name].pattern
    assert found.proposals[0].strategy == strategy


def test_a_while_skips_what_has_no_gradient_once_it_has_its_part(traced: Tracing) -> None:
    found = _found(traced, "unused_parameter/clip_by_hand", WHILE)
    lines = found.files(found.proposals[0])["train.py"].splitlines()
    at = next(n for n, line in enumerate(lines) if line.strip() == "p = item_6_0")
    assert [line.strip() for line in lines[at + 1 : at + 3]] == ["if p.grad is None:", "continue"]


def test_what_a_loop_asks_for_its_next_part_is_not_recomputed_in_it(traced: Tracing) -> None:
    found = _found(traced, "step_between_backwards/maddpg_agents", WHILE)
    assert not [p for p in found.proposals if "walker" in p.title]


def test_second_choices_leave_room_for_another_cause_s_first() -> None:
    case = CASES["derived_outside_loop/mesh_deformation"]
    project = Project({"train.py": case.stripped}, "train.py")
    cause = classify(project, read(project).evidence)[0]

    def candidate(turn: int, rank: int) -> Candidate:
        return Candidate("", "", "", {"train.py": f"{turn} {rank}"}, "", rank, turn)

    many = replace(cause, candidates=[candidate(0, rank) for rank in range(10)])
    other = replace(cause, candidates=[candidate(1, 0), candidate(1, 9)])
    chosen = [(one.turn, one.rank) for one in candidates_of([many, other])]
    assert chosen == [*((0, rank) for rank in range(7)), (1, 0)]
