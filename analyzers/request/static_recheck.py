"""Analyze patches that could not be run: does the fault disappear, and does
everything still learn?
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from analyzers.evidence import MissingGraph, Reading, SilentFault
from analyzers.reading import read
from analyzers.reading.tape import LEAF
from analyzers.request.causes import Candidate
from analyzers.source.project import FUNCTIONS, Project


def sound(
    project: Project,
    candidates: Sequence[Candidate],
    *,
    suspecting: str = "",
    before: Reading | None = None,
    fixing: bool = True,
) -> list[Candidate]:
    """Return the candidates that, by static analysis, fix something and leave neither a parameter
    without gradient nor a loss without its graph. No candidate is better than a doubtful one.
    `suspecting` is as in `read`; `before`: its result for the original, if known. Without `fixing`,
    a candidate need not be seen to fix anything: a notebook's cells run in any order.
    """
    ownerless = _ownerless(project)
    if before is None:
        before = read(project, suspecting=suspecting)
    kept = []
    for candidate in candidates:
        patched = replace(project, files={**project.files, **candidate.files})
        if _ownerless(patched) > ownerless:
            continue
        after = read(patched, suspecting=suspecting)
        if _cuts_nothing(before, after) and (_fixes(before, after) or not fixing):
            kept.append(candidate)
    return kept


def _cuts_nothing(before: Reading, after: Reading) -> bool:
    """Return True if all that is trained before is trained after, from every loss."""
    return _meant(before) <= after.sources and _lost(after) <= _lost(before)


def _lost(reading: Reading) -> int:
    return sum(isinstance(piece, MissingGraph) for piece in reading.evidence)


def _meant(reading: Reading) -> frozenset[str]:
    """Return what the script intends to train, without the leaf that replaces a lost graph."""
    return reading.sources - {LEAF} if _lost(reading) else reading.sources


def _ownerless(project: Project) -> int:
    """Return how often `self` is read where no enclosing function has such a parameter."""
    return sum(
        not any(_has_self(parent) for parent in module.ancestors(node))
        for module in project.modules.values()
        for node in module.nodes
        if isinstance(node, ast.Name) and node.id == "self"
    )


def _has_self(node: ast.AST) -> bool:
    if not isinstance(node, FUNCTIONS):
        return False
    return "self" in {a.arg for a in (*node.args.posonlyargs, *node.args.args)}


def _fixes(before: Reading, after: Reading) -> bool:
    """Return True if fewer errors are predicted, or if none was predicted before."""
    return _errors(before) == 0 or _errors(after) < _errors(before)


def _errors(reading: Reading) -> int:
    return sum(not isinstance(piece, SilentFault) for piece in reading.evidence)
