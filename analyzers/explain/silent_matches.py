"""Match the evidence of silent faults, for the patterns that explain them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, SilentFault
from analyzers.explain.pattern import GraphCarrier, Match
from analyzers.explain.source_locations import matched_at
from provenance import CodeLine

ZEROS = "every gradient that they got is zero"
ZERO_LOSS = "every loss was zero, and so every gradient"


def silent(evidence: Evidence, kind: str) -> SilentFault | None:
    """Return the evidence if it is of this kind."""
    return evidence if isinstance(evidence, SilentFault) and evidence.kind == kind else None


def matched(
    pattern: str,
    fault: SilentFault,
    place: CodeLine | None = None,
    carrier: GraphCarrier | None = None,
    title: str = "",
) -> Match | None:
    """Return a match at the line that the pattern found, else where the fault was seen."""
    at = place or fault.seen_at
    return matched_at(pattern, Certainty.LIKELY, fault, at, carrier, title)


def shared_path(params: Sequence[str]) -> list[str]:
    """Return the leading path parts that all these names share."""
    parts = zip(*(name.split(".") for name in params), strict=False)
    return [words[0] for words in takewhile(lambda words: len(set(words)) == 1, parts)]


def owner_of(params: Sequence[str]) -> str:
    """Return the common owner: `net.head` for `net.head.0.weight` and `net.head.0.bias`; a single
    parameter itself.
    """
    shared = shared_path(params)
    while shared and shared[-1].isdigit():
        shared.pop()
    return ".".join(shared)
