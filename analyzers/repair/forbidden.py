"""Reject edits that the observed types forbid: `.detach()` on what is no tensor."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from analyzers.evidence import GraphReuse
from analyzers.explain.pattern import Proposal
from analyzers.source.edits import Edit
from analyzers.source.project import Project

_ASKED = re.compile(r"([A-Za-z_][\w.]{0,120})\.detach\(\)")
_BEFORE = 160  # characters before an edit that may spell what it detaches


def is_forbidden(proposal: Proposal, evidence: object, project: Project) -> bool:
    """Return True if a proposal detaches a name that was only seen to hold other types."""
    if not isinstance(evidence, GraphReuse) or not evidence.path or _has_own(project):
        return False
    seen: dict[str, set[str]] = {}
    for binding in evidence.path:
        seen.setdefault(binding.name, set()).add(binding.kind.kind)
    return any(
        name in seen and "tensor" not in seen[name]
        for edit in proposal.edits
        for name in _detached(edit, project)
    )


def _detached(edit: Edit, project: Project) -> Iterator[str]:
    """Yield the names that an edit detaches: those in its text whose types it does not test, and
    one right before it.
    """
    before = project.files[edit.path][max(0, edit.start - _BEFORE) : edit.start]
    for name in _ASKED.findall(edit.text):
        if f"isinstance({name}, " not in edit.text:
            yield name
    if edit.text.startswith(".detach()"):
        yield from re.findall(r"[A-Za-z_][\w.]*\Z", before)[-1:]


def _has_own(project: Project) -> bool:
    """Return True if the script has a class with a `detach` method."""
    return any(node.name == "detach" for _, node in project.each(ast.FunctionDef))
