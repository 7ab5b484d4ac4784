"""Define the causes of a fault, each with candidate patches as whole files.

They hold plain values only, so that they can cross from the worker process that reads hostile
source to the server.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from analyzers.certainty import Basis, Certainty, confidence
from analyzers.evidence import Engine, Evidence, How
from analyzers.explain.pattern import SECOND_CHOICE, CrossedBoundary, GraphCarrier
from analyzers.source.project import Project
from provenance import CodeLine


@dataclass(frozen=True, slots=True)
class Candidate:
    """A patched project, not yet run; `files` holds the files that changed. `turn` is the rank of
    its cause, most certain first; `half` and `whole` are as in its proposal.
    """

    pattern: str
    strategy: str
    title: str
    files: dict[str, str]
    tradeoff: str
    rank: int
    turn: int = 0
    last_resort: bool = False
    half: bool = False
    whole: bool = False

    @property
    def choice(self) -> int:
        """Return how its pattern prefers it: 0 for a first choice, below for a favourite, above for
        a second choice.
        """
        return self.rank // SECOND_CHOICE


OPTIMIZER = "optimizer"  # the operation of an event at which an optimizer was created


@dataclass(frozen=True, slots=True)
class GraphEvent:
    """An event in the life of a graph, at a line."""

    place: CodeLine
    code: str = ""
    iteration: int | None = None
    op: str | None = None


@dataclass(frozen=True, slots=True)
class RankedCause:
    """A cause, described with the script's own names and lines."""

    pattern: str
    title: str
    certainty: Certainty
    basis: Basis
    how: How
    engine: Engine
    location: CodeLine
    code: str
    carrier: GraphCarrier | None
    boundary: CrossedBoundary
    created: GraphEvent | None
    freed_by: GraphEvent | None
    reached_again_by: GraphEvent | None
    explanation: str
    parameters: tuple[str, ...] = ()
    silent: bool = False  # nothing was raised
    by_message: bool = False  # the error's message shows it; no graph was recorded
    remedy: str = ""  # what to do, in a sentence
    candidates: list[Candidate] = field(default_factory=list)

    @property
    def confidence(self) -> float:
        """Return how certain the cause is, from 0 to 1."""
        return confidence(self.certainty, self.basis)


def classify(project: Project, evidence: Iterable[Evidence]) -> list[RankedCause]:
    """Return the causes of the evidence, most certain first."""
    from analyzers.request.explaining import causes_of  # only where there is something to explain

    return causes_of(project, evidence)


def searched(project: Project, evidence: Iterable[Evidence]) -> list[RankedCause]:
    """Return the same causes, each with the edits that the evidence itself suggests."""
    from analyzers.request.explaining import causes_of  # only where no known fix has passed

    return causes_of(project, evidence, searched=True)


def recognised(project: Project, evidence: Iterable[Evidence]) -> list[bool]:
    """Return, for each piece of evidence, whether static analysis finds the fault too."""
    from analyzers.request.explaining import is_recognised  # only where there is something to ask

    return [is_recognised(project, piece) for piece in evidence]
