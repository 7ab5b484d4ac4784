"""Bound the steps of a symbolic run."""

from __future__ import annotations

from analyzers.source.project import Project

STEPS = 20_000
STEPS_PER_LINE = 40
MAX_STEPS = 400_000


class OutOfBudgetError(Exception):
    """The run has used up its steps."""


def steps_for(project: Project) -> int:
    """Return how many steps a run may take: more for a longer script, up to a limit."""
    lines = sum(text.count("\n") for text in project.files.values())
    return min(STEPS + STEPS_PER_LINE * lines, MAX_STEPS)
