"""Whether the words next to code say that it works: then it is not what is asked about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from analyzers.paste.reading import Piece

NEAR = 4  # lines in which the words next to a piece are looked for
_WORKS = re.compile(
    r"\b(?:works?|worked|working|runs? (?:fine|well|without)|trains? (?:fine|well)|is fine"
    r"|no (?:errors?|problems?|issues?)|succeeds?)\b|正常|没有问题|可以运行|동작합니다|動きます"
)
_FAILS = re.compile(
    r"n['’]t\b|\bnot\b|\bnever\b|\bcannot\b|\bfail|\berror\b(?!s? ?free)|\bwrong\b|\braise|\bcrash"
    r"|\bwhy\b|\bhow\b|\?|不"
)
_BY_ITSELF = re.compile(
    r"\bworking (?:version|code|example|variant)\b|\b(?:works?|runs?)(?: fine| well)?\s*[:：]$"
)
_NO_ERROR = re.compile(r"\bno (?:errors?|problems?|issues?)\b|\bwithout (?:any |an? )?errors?\b")
_TURN = re.compile(r"\b(?:but|however|whereas|while|yet|although)\b|但|然而")
_FENCE = re.compile(r"\s*(?:```|~~~)")


def is_said_to_work(pieces: Sequence[Piece], lines: Sequence[str]) -> bool:
    """Return True if the last words before the pieces, or the first ones after them, say so.

    In `this works, but the next one fails` each part speaks of the code that it is next to.
    """
    last = pieces[-1].code[-1].line.last
    before = _before(pieces, lines)
    after = _TURN.split(_words(lines[last + 1 : last + 1 + NEAR]))[0]
    ahead = before.rstrip().endswith((":", "：")) and _praises(before)
    return ahead or (_praises(after) and not after.rstrip().endswith((":", "：")))


def is_working_version(pieces: Sequence[Piece], lines: Sequence[str]) -> bool:
    """Return True if the words before the pieces introduce them as what works, anywhere: the code
    that fails was not sent."""
    before = _before(pieces, lines).rstrip()
    return before.endswith((":", "：")) and _praises(before) and bool(_BY_ITSELF.search(before))


def _before(pieces: Sequence[Piece], lines: Sequence[str]) -> str:
    first = pieces[0].code[0].line.first
    return _TURN.split(_words(lines[max(first - NEAR, 0) : first][::-1]))[-1]


def _words(lines: Sequence[str]) -> str:
    """Return the first of the lines that holds words, in lower case."""
    said = (line.strip() for line in lines if line.strip() and not _FENCE.match(line))
    return next(islice(said, 1), "").lower()


def _praises(words: str) -> bool:
    return bool(_WORKS.search(words)) and not _FAILS.search(_NO_ERROR.sub("", words))
