"""Reading: the lifetimes of autograd graphs, from source alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from analyzers.evidence import Evidence, Reading
from analyzers.reading import (  # noqa: F401  (each registers what it evaluates)
    contexts,
    expressions,
    guesses,
    loops,
    roots,
    statements,
    untrained,
)
from analyzers.reading.budget import OutOfBudgetError
from analyzers.reading.machine import Machine
from analyzers.reading.reach import reached_names
from analyzers.source.project import Project
from provenance import CodeLine

MAX_EVIDENCE = 16


def read(
    project: Project,
    reruns: Iterable[tuple[int, int]] = (),
    *,
    suspecting: str = "",
    reached: Iterable[str] = (),
) -> Reading:
    """Return what static analysis of the whole project predicts.

    `suspecting`: the family of an error that the project, a fragment, is known to raise; the
    analysis then reports what may happen rather than what surely does. `reached`: functions through
    which the error's traceback passes.

    `reruns`: spans of lines of the entry (first and last, 1-based) that run once more at its end:
    notebook cells that were run again.

    There are at most two symbolic runs: the second takes the other way wherever the first had to
    assume one of two arms. Source that does not parse is not read; `incomplete` says so.
    """
    incomplete = {
        f"{path}: not valid Python": None
        for path in project.files
        if path.endswith(".py") and path not in project.parsed
    }
    evidence: dict[object, Evidence] = {}
    places: dict[CodeLine, None] = {}
    sources: set[str] = set()
    machines = _followed(project, tuple(reruns), suspecting, reached)
    for machine in machines:
        incomplete |= machine.incomplete
        places |= machine.backward_places
        sources |= machine.sources
        for key, found in machine.evidence.items():
            evidence.setdefault(key, found)
    fault = untrained.without_gradient(machines)
    if fault is not None and not suspecting:
        evidence["untrained"] = fault
    for machine in machines:
        machine.release()
    lines = {(place.file, place.line): place for place in places}
    return Reading(
        tuple(evidence.values())[:MAX_EVIDENCE],
        tuple(incomplete),
        tuple(lines.values()),
        sources=frozenset(sources),
    )


def _followed(
    project: Project, reruns: tuple[tuple[int, int], ...], suspecting: str, reached: Iterable[str]
) -> list[Machine]:
    """Return the finished symbolic runs of a project that may call backward."""
    if not suspecting and not roots.mentions_backward(project):
        return []
    models, learners = roots.model_names(project), roots.cloned_learners(project)
    leaves = guesses.leaf_names(project) if suspecting else frozenset()
    names = reached_names(project, reached) if suspecting else frozenset[str]()
    machines: list[Machine] = []
    for arm in (0, 1):
        machine = Machine(
            project,
            arm,
            models,
            suspecting=suspecting,
            leaf_names=leaves,
            reached=names,
            cloned_learners=learners,
        )
        _run(machine, reruns, machines[0].undecided if machines else None)
        machines.append(machine)
        if not machine.undecided:
            break
    return machines


def _run(
    machine: Machine, reruns: tuple[tuple[int, int], ...], undecided: set[ast.stmt | None] | None
) -> None:
    """Execute one symbolic run; `undecided`: statements for which an earlier run assumed an arm."""
    try:
        if undecided is None or reruns or machine.suspecting:
            roots.run(machine, reruns)
        else:
            roots.run_otherwise(machine, undecided)
    except OutOfBudgetError:
        machine.gave_up("the script is too long to follow to its end")
    except RecursionError:
        machine.gave_up("the script is nested too deeply")
