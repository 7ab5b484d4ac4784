"""Order several causes: more certain ones first, then those that a pattern declares to be a more
specific explanation of the same evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analyzers.explain.pattern import Match, before


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
