"""Recognise a question by topics that occur close together in a sentence, in any order.

A topic is a list of words under `[topic]` in the TOML files next to this one. `grow` matches every
word with that beginning, `=ram` that word alone, `go down` words in a row, and `!learn` a negation
followed by `learn` within three words; `~` begins a regular expression. Words that are not ASCII
match anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from analyzers.messages.entry import CatalogueError

NEAR = 60  # characters between one topic and the next
_NOT = (
    r"(?:\bno[tr]?|n['’]t|\b(?:do|does|did|is|are|was|wo|ca|could|has|have)nt|"
    r"\bnever|\bnothing|\bnone|\bwithout|\bcannot|\bunable|\bfails?(?: to)?|"
    r"\bstop(?:s|ped)?(?! the grad|[ -]grad)|\bhardly|\bbarely|\bprevents?|\bblocks?)\b"
)
_WORDS_BETWEEN = r"(?:[ \"'(]+[\w.'’-]+){0,3}?[ \"'(]+"
_REST = re.compile(r"[a-zA-Z_]*")  # of a word that a topic only begins
_SENTENCE = re.compile(r"(?<=[.!?;])(?<!e\.g\.)(?<!i\.e\.)\s+|[。！？；]")


def compiled(words: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of a topic."""
    return re.compile("|".join(f"(?:{_pattern(word)})" for word in words), re.IGNORECASE)


def _pattern(word: str) -> str:
    if word.startswith("~"):
        return word[1:]
    if not word.isascii():
        return re.escape(word)
    if word.startswith("!"):
        return rf"{_NOT}{_WORDS_BETWEEN}{re.escape(word[1:])}"
    exact = word.startswith("=")
    begin = r"(?<![a-z0-9_])" if exact or word[0].isalnum() else ""
    end = r"(?![a-z0-9_])" if exact else ""  # other scripts put no space behind a word
    if exact and word[1:].isdigit():  # neither of `0.5` nor of `cuda:0` or `x[0]`
        begin, end = r"(?<![\w.:\[])", r"(?![\w]|\.\d)"
    return rf"{begin}{re.escape(word.removeprefix('='))}{end}"


def close_together(topics: Sequence[re.Pattern[str]], line: str) -> tuple[str, str] | None:
    """Return the words in which a sentence of the line holds every topic, each near the next, with
    what precedes them in it; None if no sentence does.
    """
    for sentence in sentences(line):
        if (span := _span(topics, sentence)) is not None:
            rest = _REST.match(sentence, span[1])
            return sentence[span[0] : rest.end() if rest else span[1]], sentence[: span[0]]
    return None


def sentences(line: str) -> list[str]:
    """Return the sentences of a line."""
    return _SENTENCE.split(line)


def _span(topics: Sequence[re.Pattern[str]], sentence: str) -> tuple[int, int] | None:
    spans = [[match.span() for match in topic.finditer(sentence)] for topic in topics]
    if not all(spans):
        return None
    return next(filter(None, (_reached(first, spans[1:]) for first in spans[0])), None)


def _reached(
    reached: tuple[int, int], others: Sequence[Sequence[tuple[int, int]]]
) -> tuple[int, int] | None:
    """Return the range that has a place of each further topic near, grown by these places."""
    if not others:
        return reached
    begin, end = reached
    grown = (
        _reached((min(begin, a), max(end, b)), others[1:])
        for a, b in others[0]
        if max(begin, a) - min(end, b) <= NEAR
    )
    return next(filter(None, grown), None)


def topics_of(tables: Iterable[Mapping[str, Sequence[str]]]) -> dict[str, re.Pattern[str]]:
    """Return the pattern of each topic by its name. Raise CatalogueError for a name that two
    tables define."""
    found: dict[str, re.Pattern[str]] = {}
    for name, words in (topic for table in tables for topic in table.items()):
        if name in found:
            raise CatalogueError(f"two files define the topic {name}")
        found[name] = compiled(words)
    return found
