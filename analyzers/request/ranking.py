"""Which of several causes comes first: the surer one, then the one that a pattern declares to be
the more specific reading of the same evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analyzers.explain.pattern import Match, before


def in_turns(found: Iterable[Sequence[Match]]) -> list[list[Match]]:
    """The matches of each piece of evidence, all in turns: those of a later turn count only where
    those of the earlier ones come to nothing. Within a turn they stay in the order given."""
    turns: dict[tuple[int, int], list[Match]] = {}
    for matches in found:
        for match in matches:
            turns.setdefault((-match.certainty, _behind(match, matches)), []).append(match)
    return [turns[turn] for turn in sorted(turns)]


def _behind(match: Match, others: Sequence[Match]) -> int:
    """How many others, each before the next, come before a match that is no surer than they."""
    equal = [o for o in others if o.certainty == match.certainty]
    return max(
        (1 + _behind(o, equal) for o in equal if match.pattern in before(o.pattern)), default=0
    )
