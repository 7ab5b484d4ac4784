"""Every example that a page shows: the broken one is recognised and mended, the mended one runs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from analyzers.pattern import Pattern, patterns
from tests.mending import first_that_runs, recognise, run_files
from tests.tracing import Tracing

SHOWN = [p for p in patterns().values() if p.FAMILY in ("inplace", "no-grad", "silent")]


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tracing]:
    """Runs scripts under the tracer, in a warm process."""
    tracing = Tracing(tmp_path_factory.mktemp("traced"))
    yield tracing
    tracing.close()


def example(pattern: Pattern, title: str) -> str:
    """The literal block of the docstring below `Broken::` or `Mended::`."""
    assert pattern.__doc__ is not None
    _, _, rest = pattern.__doc__.partition(f"{title}::\n")
    lines = rest.splitlines()
    end = next((i for i, line in enumerate(lines) if line and not line.startswith("    ")), None)
    return textwrap.dedent("\n".join(lines[:end])).strip() + "\n"


def label(pattern: Pattern) -> str:
    return pattern.NAME


def test_the_three_families_are_complete() -> None:
    assert {p.NAME for p in SHOWN} == {
        "step-between-backwards",
        "inplace-activation",
        "inplace-leaf",
        "inplace-view",
        "inplace-state",
        "detached-loss",
        "non-scalar-backward",
        "leaf-rebound",
        "nonleaf-grad",
        "unused-parameter",
        "numpy-on-grad",
        "deepcopy-nonleaf",
        "growing-history",
        "retain-graph-leak",
        "aliased-grad",
        "missing-zero-grad",
        "starved-parameter",
    }


@pytest.mark.parametrize("pattern", SHOWN, ids=label)
def test_the_broken_example_is_recognised_and_a_patch_of_it_runs(
    pattern: Pattern, traced: Tracing, tmp_path: Path
) -> None:
    script = example(pattern, "Broken")
    alone = run_files({"train.py": script}, tmp_path / "alone")
    assert (alone.error is None) == (pattern.FAMILY == "silent")
    found = recognise(traced, script)
    assert found is not None
    assert found.match.pattern == pattern.NAME
    assert found.project.code(found.match.location.file, found.match.location.line)
    explanation = pattern.explain(found.match, found.project)
    assert f"line {found.match.location.line}" in explanation
    _, record, mended = first_that_runs(found, tmp_path)
    assert record.error is None
    if pattern.FAMILY == "silent":
        again = recognise(traced, mended)
        assert again is None or again.match.pattern != pattern.NAME


@pytest.mark.parametrize("pattern", SHOWN, ids=label)
def test_the_mended_example_runs_and_nothing_is_found_in_it(
    pattern: Pattern, traced: Tracing, tmp_path: Path
) -> None:
    script = example(pattern, "Mended")
    assert run_files({"train.py": script}, tmp_path).error is None
    assert recognise(traced, script) is None
