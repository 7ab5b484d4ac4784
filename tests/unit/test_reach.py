"""What a change reaches is tested live."""

from __future__ import annotations

import pytest

from tests.reach import AREAS, NEAREST, TRACED, is_traced, reached
from tests.recorded.digests import ROOT, TRACER


@pytest.mark.parametrize(
    ("file", "test"),
    [
        ("sandbox/inside/core/engine.py", "tests/integration"),
        ("sandbox/jail/run.py", "tests/abuse"),
        ("app/repair/judging.py", "tests/corpus/test_accuracy.py"),
        ("app/store/rows.py", "tests/integration/test_service_kills.py"),
        ("gradmend/command.py", "tests/integration/test_run_wrapper.py"),
    ],
)
def test_a_change_reaches_the_tests_that_hold_it(file: str, test: str) -> None:
    assert test in reached([file])


def test_a_change_of_words_reaches_nothing() -> None:
    assert reached(["README.md", "docs/testing.md"]) == []


def test_a_part_of_the_tracer_has_tests_that_hold_it_most_closely() -> None:
    held = reached(["sandbox/inside/stubs/gym.py"], NEAREST)
    assert held == ["tests/integration/test_stubs.py"]


def test_a_detector_is_held_by_the_tests_of_the_tracer_alone() -> None:
    assert is_traced(["docs/testing.md", "sandbox/inside/detectors/silent.py"])
    assert not is_traced(["sandbox/inside/stubs/gym.py", "sandbox/jail/run.py"])


def test_without_history_everything_is_reached() -> None:
    assert {"tests/abuse", "tests/browser", "tests/corpus", "tests/integration"} <= {*reached(None)}


def test_every_place_is_there() -> None:
    for places, tests in [*AREAS.items(), *NEAREST.items()]:
        for place in (*places, *tests):
            assert any(ROOT.glob(f"{place}*")), place
    for part in TRACED:
        assert (ROOT / TRACER[0] / part).is_dir()
