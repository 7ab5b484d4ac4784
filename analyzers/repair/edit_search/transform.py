"""Define the interface of a transform, and generate edits with every transform of this package."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Protocol, cast

from analyzers.evidence import Evidence
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.source.edits import EditConflict
from analyzers.source.project import Project


class Transform(Protocol):
    """The interface of a transform's module. Its docstring says what it does, with an example.

    Where `INTENT` is set, whether the edits are right depends on what the script means: they are
    made only for patterns that prefer this transform (`PREFERS` in their files).
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
    preferred: Collection[str] = (),
    also: Collection[str] = (),
) -> list[Proposal]:
    """Return the edits that the evidence suggests, cheapest first: by how well they fit it, then by
    the lines that they change. Where transforms are preferred, only those of `also` follow, as
    second choices; otherwise those of all transforms are returned for which no intent must be
    known.
    """
    others = (
        also if preferred else [n for n in transforms() if not hasattr(transforms()[n], "INTENT")]
    )
    found = [
        replace(proposal, rank=proposal.rank + SECOND_CHOICE * (name in also))
        for name in (*preferred, *others)
        for proposal in _edits_of(name, evidence, project)
    ]
    return sorted(found, key=_cost)


def _edits_of(name: str, evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a transform's edits, up to one that conflicts with itself."""
    with suppress(EditConflict):
        yield from transforms()[name].edits(evidence, project)


def _cost(proposal: Proposal) -> tuple[int, int, int]:
    lines = sum(1 + edit.text.count("\n") for edit in proposal.edits)
    return proposal.last_resort, proposal.rank, lines
