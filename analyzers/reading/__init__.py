"""Reading: the lifetimes of autograd graphs, from source alone."""

from __future__ import annotations

from analyzers.evidence import Evidence, Place, Reading
from analyzers.reading import (  # noqa: F401  (each registers what it evaluates)
    expressions,
    loops,
    roots,
    statements,
)
from analyzers.reading.machine import Machine, OutOfBudgetError
from analyzers.source import Project

MAX_EVIDENCE = 16


def read(project: Project) -> Reading:
    """What reading the whole project predicts.

    Two runs at most: the second takes the other way wherever the first had to assume one of two
    arms. Source that does not parse is not read; `incomplete` says so.
    """
    incomplete = {
        f"{path}: not valid Python": None
        for path in project.files
        if path.endswith(".py") and project.module(path) is None
    }
    evidence: dict[object, Evidence] = {}
    walks: dict[Place, None] = {}
    if roots.mentions_walks(project):
        for arm in (0, 1):
            machine = _run(project, arm)
            incomplete |= machine.incomplete
            walks |= machine.walk_places
            for key, found in machine.evidence.items():
                evidence.setdefault(key, found)
            if not machine.undecided:
                break
    lines = {(place.file, place.line): place for place in walks}
    return Reading(
        tuple(evidence.values())[:MAX_EVIDENCE], tuple(incomplete), tuple(lines.values())
    )


def _run(project: Project, arm: int) -> Machine:
    machine = Machine(project, arm)
    try:
        roots.run(machine)
    except OutOfBudgetError:
        machine.gave_up("the script is too long to follow to its end")
    except RecursionError:
        machine.gave_up("the script is nested too deeply")
    return machine
