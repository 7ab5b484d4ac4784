"""What the patterns of silent faults share: their evidence, and how it is matched."""

from __future__ import annotations

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, Place, SilentFault
from analyzers.explain.pattern import Carrier, Match
from analyzers.explain.spots import matched_at


def silent(evidence: Evidence, kind: str) -> SilentFault | None:
    """The evidence, if it is of this kind."""
    mine = isinstance(evidence, SilentFault) and evidence.kind == kind
    return evidence if mine and isinstance(evidence, SilentFault) else None


def matched(
    pattern: str, fault: SilentFault, place: Place | None = None, carrier: Carrier | None = None
) -> Match | None:
    """A match at the line that the pattern found, else where the fault was seen."""
    return matched_at(pattern, Certainty.LIKELY, fault, place or fault.seen_at, carrier)
