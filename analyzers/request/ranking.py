"""Order causes, and their candidates before any has run.

A more certain cause comes first, then one that a pattern declares to be a more specific explanation
of the same evidence: the position of its group is its `turn`. Within a cause the pattern's own
preference counts, the `rank` of its proposals. What runs show of candidates is compared in
`app.repair.ranking`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analyzers.explain.pattern import Match, before
from analyzers.request.causes import Candidate, RankedCause

MAX_CANDIDATES = 8


def in_turns(found: Iterable[Sequence[Match]]) -> list[list[Match]]:
    """Group the matches of all evidence by rank: those of a later group count only if those of the
    earlier groups fail. Within a group they keep their order.
    """
    turns: dict[tuple[int, int], list[Match]] = {}
    for matches in found:
        for match in matches:
            turns.setdefault((-match.certainty, _predecessors(match, matches)), []).append(match)
    return [turns[turn] for turn in sorted(turns)]


def _predecessors(match: Match, others: Sequence[Match]) -> int:
    """Return the length of the longest chain of equally certain matches that
    must precede this one.
    """
    equal = [o for o in others if o.certainty == match.certainty]
    return max(
        (1 + _predecessors(o, equal) for o in equal if match.pattern in before(o.pattern)),
        default=0,
    )


def by_preference(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidates of one cause, those that its pattern prefers first."""
    return sorted(candidates, key=lambda candidate: (candidate.last_resort, candidate.rank))


def candidates_of(causes: Sequence[RankedCause]) -> list[Candidate]:
    """Return the candidates of all causes without duplicates, most certain and most idiomatic
    first. If there are too many, second choices of the first causes make room for first choices of
    others.
    """
    chosen: list[Candidate] = []
    for cause in causes:
        for candidate in cause.candidates:
            if all(candidate.files != other.files for other in chosen):
                chosen.append(candidate)
    chosen.sort(key=lambda c: (c.last_resort, c.choice > 0, c.turn, c.rank))
    return sorted(chosen[:MAX_CANDIDATES], key=lambda c: (c.last_resort, c.turn, c.rank))
