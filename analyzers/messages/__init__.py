"""The catalogue of messages: what autograd and its neighbours raise, what it means, what is behind.

Data, in the TOML files of this folder; `entry` says what they hold. `python -m benchmarks.messages`
compares it with what the installed packages raise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from analyzers.evidence import Family
from analyzers.messages.asked import Asked, asks_something, nearest_in, question_in
from analyzers.messages.catalogue_files import among, catalogue, held, plain, said_of, topics_in
from analyzers.messages.entry import Message, UsualCause

_WORD = re.compile(r"[a-z_]+")

__all__ = [
    "Asked",
    "Message",
    "UsualCause",
    "asks_something",
    "catalogue",
    "entry_for",
    "entry_of",
    "named_in_words",
    "nearest_in",
    "plain",
    "question_in",
    "said_of",
]


def entry_of(message: str, code: str = "") -> Message | None:
    """The entry of a message: the one whose text covers most of it. `code`: the line that raised
    it, as far as it is known."""
    text = plain(message).replace("`", "")
    anchored = _anchored()
    words = {"", *_WORD.findall(text)}
    alike = [e for word in words for e in anchored.get(word, ()) if e.raised_at in code]
    best = max(alike, key=lambda entry: (entry.found_in(text), entry.id), default=None)
    return best if best is not None and best.found_in(text) else None


@cache
def _anchored() -> dict[str, list[Message]]:
    """Entries by a word that their text holds as a whole; without one, under no word: most lines
    of a paste hold none of these words, and need no comparing."""
    found: dict[str, list[Message]] = {}
    for entry in catalogue().values():
        for word in {_anchor(parts) for parts in entry.parts}:
            found.setdefault(word, []).append(entry)
    return found


def _anchor(parts: tuple[str, ...]) -> str:
    """The longest word inside of a text's parts; those at their ends may be parts of words."""
    inner = (word for part in parts for word in _WORD.findall(part)[1:-1])
    return max(inner, key=len, default="")


def named_in_words(line: str) -> Message | None:
    """Return the entry of a message that words name without its text, or None."""
    text = plain(line)
    if (topics := held(text, _named_topics())) == frozenset():
        return None
    counted = (
        (max((max(len(n), 2) for n in among(topics, e.named) if said_of(text, [n])), default=0), e)
        for e in catalogue().values()
    )
    most, entry = max(counted, key=lambda one: one[0])
    return entry if most else None


@cache
def _named_topics() -> Mapping[str, re.Pattern[str]]:
    return topics_in(names for entry in catalogue().values() for names in entry.named)


def entry_for(message: str, family: Family, kind: str | None, code: str = "") -> Message | None:
    """The entry of a message; of one that no text identifies, that of its family and kind."""
    found = entry_of(message, code)
    if found is not None and found.family == family:
        return found
    errors = (entry for entry in catalogue().values() if not entry.question)
    alike = (e for e in errors if (e.family, e.kind) == (family, kind))
    return next(alike, None) if family != "other" else None
