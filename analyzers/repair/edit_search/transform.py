"""Define the interface of a transform, and generate edits with every transform of this package."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, Protocol, cast

from analyzers.evidence import Evidence
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.source.edits import EditConflict
from analyzers.source.project import Project

Edits = Callable[[Any, Project], Iterator[Proposal]]
"""What a pattern may prefer: it yields edits for the kind of evidence that the pattern matches."""


class Transform(Protocol):
    """The interface of a transform's module. Its docstring says what it does, with an example.

    Where `INTENT` is set, whether the edits are right depends on what the script means: they are
    made only for patterns that prefer them (`PREFERS` in their files).
    """

    __doc__: str | None

    def edits(self, evidence: Evidence, project: Project) -> Iterator[Proposal]:
        """Yield this transform at each position that the evidence shows; nothing for evidence of
        another kind. Ranks are those of proposals: how well an edit fits what was observed.
        """


@cache
def transforms() -> dict[str, Transform]:
    """Return every transform by the name of its module."""
    package = importlib.import_module(__package__)
    found: dict[str, Transform] = {}
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        if hasattr(module, "edits"):
            found[info.name] = cast(Transform, module)
    return found


def edits_for(
    evidence: Evidence,
    project: Project,
    preferred: Sequence[Edits] = (),
    also: Sequence[Edits] = (),
) -> list[Proposal]:
    """Return the edits that the evidence suggests, cheapest first: by how well they fit it, then by
    the lines that they change. Where functions are preferred, only those of `also` follow, as
    second choices; otherwise those of all transforms are returned for which no intent must be
    known.
    """
    if not preferred:
        preferred = [one.edits for one in transforms().values() if not hasattr(one, "INTENT")]
    found = [proposal for edits in preferred for proposal in _edits_of(edits, evidence, project)]
    for edits in also:
        for proposal in _edits_of(edits, evidence, project):
            found.append(replace(proposal, rank=proposal.rank + SECOND_CHOICE))
    return sorted(found, key=_cost)


def _edits_of(edits: Edits, evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield the edits of one function, up to one that conflicts with itself."""
    with suppress(EditConflict):
        yield from edits(evidence, project)


def _cost(proposal: Proposal) -> tuple[int, int, int]:
    lines = sum(1 + edit.text.count("\n") for edit in proposal.edits)
    return proposal.last_resort, proposal.rank, lines
