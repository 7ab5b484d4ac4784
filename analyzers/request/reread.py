"""Patches that could not be run, read again: does the fault go, and does everything still learn?"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from analyzers.evidence import Reading, SilentFault
from analyzers.reading import read
from analyzers.request.causes import Candidate
from analyzers.source.project import Project
from analyzers.source.trees import children


def sound(
    project: Project, candidates: Sequence[Candidate], *, suspecting: str = ""
) -> list[Candidate]:
    """The candidates that reading holds to mend something without starving anything. None is
    better than a doubtful one. `suspecting` as for `read`."""
    before, ownerless = read(project, suspecting=suspecting), _ownerless(project)
    kept = []
    for candidate in candidates:
        patched = replace(project, files={**project.files, **candidate.files})
        if _ownerless(patched) > ownerless:
            continue
        after = read(patched, suspecting=suspecting)
        if _mends(before, after) and before.sources <= after.sources:
            kept.append(candidate)
    return kept


def _ownerless(project: Project) -> int:
    """How often `self` is read where no function around has such a parameter."""
    return sum(_selves(module.tree) for module in project.modules.values())


def _selves(scope: ast.AST) -> int:
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        arguments = scope.args
        if "self" in {a.arg for a in (*arguments.posonlyargs, *arguments.args)}:
            return 0
    own = isinstance(scope, ast.Name) and scope.id == "self"
    return own + sum(_selves(child) for child in children(scope))


def _mends(before: Reading, after: Reading) -> bool:
    """Whether fewer errors are predicted; true where reading saw none to begin with."""
    return _errors(before) == 0 or _errors(after) < _errors(before)


def _errors(reading: Reading) -> int:
    return sum(not isinstance(piece, SilentFault) for piece in reading.evidence)
