"""Recognise a question by topics that occur close together in a sentence, in any order.

A topic is a list of words under `[topic]` in `questions.toml`. `grow` matches every word with that
beginning, `=ram` that word alone, `go down` words in a row, and `!learn` a negation followed by
`learn` within three words. Words that are not ASCII match anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

NEAR = 60  # characters between one topic and the next
_NOT = (
    r"(?:\bno[tr]?|n['’]t|\b(?:do|does|did|is|are|was|wo|ca|could|has|have)nt|"
    r"\bnever|\bnothing|\bnone|\bwithout|\bcannot|\bunable|\bfails?(?: to)?|"
    r"\bstop(?:s|ped)?|\bhardly|\bbarely|\bprevents?|\bblocks?)\b"
)
_WORDS_BETWEEN = r"(?:[ \"'(]+[\w.'’-]+){0,3}?[ \"'(]+"
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|[。！？；]")


def compiled(words: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of a topic. Its texts are in lower case with single spaces."""
    return re.compile("|".join(f"(?:{_pattern(word)})" for word in words))


def _pattern(word: str) -> str:
    if not word.isascii():
        return re.escape(word)
    if word.startswith("!"):
        return rf"{_NOT}{_WORDS_BETWEEN}{re.escape(word[1:])}"
    exact = word.startswith("=")
    end = r"(?![\w])" if exact else ""
    return rf"(?<![a-z0-9_]){re.escape(word.removeprefix('='))}{end}"


def close_together(topics: Sequence[re.Pattern[str]], line: str) -> bool:
    """Return True if a sentence of the line holds every topic, each near the next."""
    return any(_near(topics, sentence) for sentence in _SENTENCE.split(line))


def _near(topics: Sequence[re.Pattern[str]], sentence: str) -> bool:
    spans = [[match.span() for match in topic.finditer(sentence)] for topic in topics]
    if not all(spans):
        return False
    return any(_reaches(first, spans[1:]) for first in spans[0])


def _reaches(reached: tuple[int, int], others: Sequence[Sequence[tuple[int, int]]]) -> bool:
    """Return True if each further topic has a place near the range, which grows by it."""
    if not others:
        return True
    begin, end = reached
    return any(
        _reaches((min(begin, a), max(end, b)), others[1:])
        for a, b in others[0]
        if max(begin, a) - min(end, b) <= NEAR
    )


def topics_of(tables: Iterable[Mapping[str, Sequence[str]]]) -> dict[str, re.Pattern[str]]:
    """Return the pattern of each topic by its name."""
    return {name: compiled(words) for table in tables for name, words in table.items()}
