"""Patterns and messages by what somebody has: an id, a name, a pasted message, a few words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from analyzers.explain.pattern import pattern_for
from analyzers.messages import Message, catalogue, entry_for, entry_of, plain, question_in
from analyzers.tracebacks import parse
from app.present.guide import Guide, guide_of, guides

MOST_WORDS = 12
LONGEST = 8000  # characters of what is looked up


@dataclass(frozen=True, slots=True)
class LookupResult:
    """What fits, the most usual first. `messages`: entries of the catalogue that the text is or is
    a part of. `sure`: the text names the first pattern, or its message comes of nothing else.
    `near`: entries that may help with what no pattern covers.
    """

    patterns: tuple[Guide, ...] = ()
    messages: tuple[Message, ...] = ()
    sure: bool = False
    near: tuple[Message, ...] = ()


def look_up(text: str) -> LookupResult:
    """Return what a text points to: by id or name, by the message that it holds or is a part of,
    else by words that all occur on a pattern's page.
    """
    asked = text.strip()[:LONGEST]
    if (named := guide_of(asked)) is not None:
        return LookupResult((named,), sure=True)
    messages = messages_of(asked)
    names = dict.fromkeys(name for entry in messages for name in patterns_of(entry))
    fitting = tuple(guides()[name] for name in names)
    if messages:
        return LookupResult(fitting, messages, sure=len(fitting) == 1)
    near = tuple(entry for entry in catalogue().values() if _is_near(entry, plain(asked)))
    return LookupResult(near=near) if near else LookupResult(_by_words(asked))


def patterns_of(entry: Message) -> tuple[str, ...]:
    """Return the names of the patterns that a message comes of, the most usual first."""
    explaining = pattern_for(entry.kind)
    return entry.patterns or ((explaining,) if explaining else ())


def messages_of(text: str) -> tuple[Message, ...]:
    """Return the entry of the error in a text, or those whose message holds all words of it."""
    error = parse(text)
    named = entry_for(error.message, error.family, error.kind, error.code)
    known = named or entry_of(text) or question_in(text)
    if known is not None:
        return (known,)
    words = _words(text)
    if not words:
        return ()
    known_ones = catalogue().values()
    return tuple(e for e in known_ones if any(words <= _words(message) for message in e.texts))


def _is_near(entry: Message, text: str) -> bool:
    return any(re.search(rf"\b{re.escape(words)}\b", text) for words in entry.near)


def _by_words(text: str) -> tuple[Guide, ...]:
    words = _words(text)
    if not 0 < len(words) <= MOST_WORDS:
        return ()
    return tuple(
        guide
        for guide in guides().values()
        if words <= _words(f"{guide.name.replace('-', ' ')} {guide.title} {guide.lead}")
    )


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z_]{3,}", text.lower()))
