"""What the patterns of silent faults share: their evidence, and how it is matched."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, Place, SilentFault
from analyzers.explain.pattern import Carrier, Match
from analyzers.explain.spots import matched_at


def silent(evidence: Evidence, kind: str) -> SilentFault | None:
    """The evidence, if it is of this kind."""
    mine = isinstance(evidence, SilentFault) and evidence.kind == kind
    return evidence if mine and isinstance(evidence, SilentFault) else None


def matched(
    pattern: str,
    fault: SilentFault,
    place: Place | None = None,
    carrier: Carrier | None = None,
    title: str = "",
) -> Match | None:
    """A match at the line that the pattern found, else where the fault was seen."""
    at = place or fault.seen_at
    return matched_at(pattern, Certainty.LIKELY, fault, at, carrier, title)


def shared_path(params: Sequence[str]) -> list[str]:
    """The parts of a path that all these names begin with."""
    parts = zip(*(name.split(".") for name in params), strict=False)
    return [words[0] for words in takewhile(lambda words: len(set(words)) == 1, parts)]


def owner_of(params: Sequence[str]) -> str:
    """What the parameters are all of: `net.head` for `net.head.0.weight` and `net.head.0.bias`; of
    one parameter, that."""
    shared = shared_path(params)
    while shared and shared[-1].isdigit():
        shared.pop()
    return ".".join(shared)
