"""What a pattern is, and how the files in `analyzers/patterns` are found.

A pattern is a module: its docstring is the page that users read; `ID`, `NAME`, `FAMILY`,
`TITLE` name it; `match` reads evidence, `explain` says it with the script's own names, `fixes`
yields edits with the effect that they declare, which tells the verifier what to check.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, Protocol, TypeVar, cast

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, Place
from analyzers.source.edits import Edit
from analyzers.source.project import Project

SECOND_CHOICE = 4  # from this rank on a proposal is the second choice of its pattern


@dataclass(frozen=True, slots=True)
class Carrier:
    """The name that carried the graph (or the tensor that was changed), as spelled."""

    name: str
    place: Place
    kind: str = "local"


@dataclass(frozen=True, slots=True)
class Boundary:
    """What the carrier crossed."""

    kind: Literal["loop", "epoch", "call", "cell", "none"] = "none"
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """A pattern recognised in a piece of evidence.

    `certainty` is the pattern's own level; `location` is the line to look at first; `title` says it
    where the pattern's own would not be true. `remedy`: what to do, where that can be said in a
    sentence, for those for whom no patch can be run.
    `facts` holds what the pattern found on the way and its fixes need.
    """

    pattern: str
    certainty: Certainty
    evidence: Evidence
    location: Place
    carrier: Carrier | None = None
    boundary: Boundary = Boundary()
    facts: dict[str, object] = field(default_factory=dict)
    title: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate patch, not yet run: what it does to the training is measured when it runs.

    `rank` orders candidates before they have run: lower is more idiomatic. `half`: it mends nothing
    by itself, but shows the fault behind, whose patches go on top of it.
    """

    strategy: str
    title: str
    edits: tuple[Edit, ...]
    tradeoff: str = ""
    rank: int = 0
    last_resort: bool = False
    half: bool = False


E = TypeVar("E", bound=Evidence)


def evidence_in(match: Match, kind: type[E]) -> E:
    """The evidence of a match, which its pattern knows to be of this kind."""
    assert isinstance(match.evidence, kind)
    return match.evidence


class Pattern(Protocol):
    """The interface of every module in `analyzers/patterns`."""

    ID: str
    NAME: str
    FAMILY: str
    TITLE: str
    __doc__: str | None

    def match(self, evidence: Evidence, project: Project) -> Match | None:
        """Whether the evidence shows this pattern, and where."""

    def explain(self, match: Match, project: Project) -> str:
        """Markdown, from facts that the evidence holds."""

    def fixes(self, match: Match, project: Project) -> Iterator[Proposal]:
        """Candidate patches, most idiomatic first."""


@cache
def patterns() -> dict[str, Pattern]:
    """Every pattern by its public name, discovered."""
    package = importlib.import_module("analyzers.patterns")
    found: dict[str, Pattern] = {}
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        if hasattr(module, "NAME"):
            found[module.NAME] = cast(Pattern, module)
    return found


@cache
def by_id() -> dict[str, str]:
    """The names of the patterns by their ids (`ID` in their files): an id never changes hands."""
    return {pattern.ID: name for name, pattern in patterns().items()}


@cache
def usually() -> tuple[str, ...]:
    """The patterns that are behind most errors of a second walk (`USUAL` in their files)."""
    return tuple(name for name, pattern in patterns().items() if getattr(pattern, "USUAL", False))


@cache
def before(name: str) -> frozenset[str]:
    """The patterns that this one comes before where both fit: it is the more specific reading of
    the same evidence (`BEFORE` in its file)."""
    return frozenset(getattr(patterns()[name], "BEFORE", ()))


def told_by(kind: str | None) -> str | None:
    """The pattern that an error of this kind points to (`KIND` in its file)."""
    found = (name for name, p in patterns().items() if kind and getattr(p, "KIND", None) == kind)
    return next(found, None)
