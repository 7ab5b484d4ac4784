"""Define the interface of a pattern, and discover the modules in `analyzers/patterns`.

A pattern is a module. Its docstring is the page that users read; `ID`, `NAME`, `FAMILY` and `TITLE`
name it. `match` reads evidence, `explain` describes it with the script's own names; errors that a
message identifies have both by the message (`KIND`, `analyzers.explain.known`). `PREFERS` are
functions of the evidence and the project that yield proposals, `ALSO` second choices; a pattern
without them gets what all transforms propose (`analyzers.repair.edit_search`). Where the match
itself decides, a pattern has `fixes(match, project)` instead.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, Protocol, TypeVar, cast

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence
from analyzers.source.edits import Edit
from analyzers.source.project import Project
from provenance import CodeLine

SECOND_CHOICE = 4  # from this rank on a proposal is the second choice of its pattern


@dataclass(frozen=True, slots=True)
class GraphCarrier:
    """The name that carried the graph (or the tensor that was changed), as spelled."""

    name: str
    place: CodeLine
    kind: str = "local"


@dataclass(frozen=True, slots=True)
class CrossedBoundary:
    """The boundary that the carrier crossed."""

    kind: Literal["loop", "epoch", "call", "cell", "none"] = "none"
    place: CodeLine | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """A pattern that was recognised in a piece of evidence.

    `certainty` is the pattern's own level; `location` is the line to look at first; `title`
    replaces the pattern's title where that would not be true. `remedy`: what to do, in one
    sentence, when no patch can be run. `facts` holds what the pattern found and its fixes need.
    """

    pattern: str
    certainty: Certainty
    evidence: Evidence
    location: CodeLine
    carrier: GraphCarrier | None = None
    boundary: CrossedBoundary = CrossedBoundary()
    facts: dict[str, object] = field(default_factory=dict)
    title: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate patch, not yet run; its effect on the training is measured when it runs.

    `rank` orders candidates before they have run: lower is more idiomatic. `half`: it fixes nothing
    by itself but reveals another fault, whose patches are applied on top of it. `whole`: its edits
    belong together, even if the run needs some of them only.
    """

    strategy: str
    title: str
    edits: tuple[Edit, ...]
    tradeoff: str = ""
    rank: int = 0
    last_resort: bool = False
    half: bool = False
    whole: bool = False


E = TypeVar("E", bound=Evidence)


def evidence_in(match: Match, kind: type[E]) -> E:
    """Return the evidence of a match, which must be of this kind."""
    assert isinstance(match.evidence, kind)
    return match.evidence


class Pattern(Protocol):
    """The interface of every module in `analyzers/patterns`. A module has a `CONCLUSION`, what the
    evidence means, or `explain(match, project)`, which returns the whole explanation in Markdown,
    from facts that the evidence holds. Errors that a message identifies need neither.
    """

    ID: str
    NAME: str
    FAMILY: str
    TITLE: str
    CONCLUSION: str
    __doc__: str | None

    def match(self, evidence: Evidence, project: Project) -> Match | None:
        """Return a match if the evidence shows this pattern; else None."""


@cache
def patterns() -> dict[str, Pattern]:
    """Return every pattern by its public name."""
    package = importlib.import_module("analyzers.patterns")
    found: dict[str, Pattern] = {}
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        if hasattr(module, "NAME"):
            found[module.NAME] = cast(Pattern, module)
    return found


@cache
def by_id() -> dict[str, str]:
    """Return the names of the patterns by their ids (`ID` in their files); an
    id is never reused.
    """
    return {pattern.ID: name for name, pattern in patterns().items()}


@cache
def usually() -> tuple[str, ...]:
    """Return the patterns that cause most second uses (`USUAL` in their files)."""
    return tuple(name for name, pattern in patterns().items() if getattr(pattern, "USUAL", False))


@cache
def of_several_losses() -> tuple[str, ...]:
    """Return the patterns that cause second uses where a script has several losses
    (`OF_SEVERAL_LOSSES` in their files)."""
    found = patterns().items()
    return tuple(name for name, one in found if getattr(one, "OF_SEVERAL_LOSSES", False))


@cache
def before(name: str) -> frozenset[str]:
    """Return the patterns that this one precedes if both match: it explains the same evidence more
    specifically (`BEFORE` in its file).
    """
    return frozenset(getattr(patterns()[name], "BEFORE", ()))


@cache
def pattern_seen_as(kind: str) -> Pattern | None:
    """Return the pattern that a silent fault of this kind shows (`SEEN_AS`, `UNHELD` in its file);
    None if there is none."""
    seen = (
        (getattr(p, "SEEN_AS", None), getattr(p, "UNHELD", None), p) for p in patterns().values()
    )
    return next((pattern for *kinds, pattern in seen if kind in kinds), None)


def title_of(pattern: Pattern, detail: str) -> str:
    """Return the title of a pattern for a silent fault with this detail (`TITLES` in its file)."""
    titles: dict[str, str] = getattr(pattern, "TITLES", {})
    return titles.get(detail, pattern.TITLE)


def pattern_for(kind: str | None) -> str | None:
    """Return the pattern that an error of this kind indicates (`KIND` in its file); None if there
    is none.
    """
    found = (name for name, p in patterns().items() if kind and getattr(p, "KIND", None) == kind)
    return next(found, None)
