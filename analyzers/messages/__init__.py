"""The catalogue of messages: what autograd and its neighbours raise, what it means, what is behind.

Data, in the TOML files of this folder; `entry` says what they hold. `python -m benchmarks.messages`
compares it with what the installed packages raise.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

from analyzers.evidence import Family
from analyzers.messages.entry import CatalogueError, Message, UsualCause, read
from analyzers.messages.topics import close_together, topics_of
from analyzers.source import typeset

DECISIVE = 3  # topics of a title
_SAID = re.compile(r'"([^"]{0,500})"')
_ADDRESS = re.compile(r"https?://\S+")
_WORD = re.compile(r"[a-z_]+")
_ASKING = (("something-asked",),)
_HOW_ASKED = frozenset({"asking", "purpose", "curious", "why", "doubted", "compared", "asked-of"})

__all__ = [
    "Message",
    "UsualCause",
    "asks_something",
    "catalogue",
    "entry_for",
    "entry_of",
    "named_in_words",
    "plain",
    "question_in",
    "said_of",
    "touched_in",
]


@cache
def catalogue() -> dict[str, Message]:
    """Every entry by its id, in the order of the files.

    Raises CatalogueError for an entry that is not as `entry` describes it."""
    tables = [table for file in _files() for table in file.get("message", ())]
    shared = {one["id"]: one for table in tables for one in table.get("cause", ()) if "id" in one}
    causes = {
        table["id"]: [shared.get(one.get("same"), {}) | one for one in table.get("cause", ())]
        for table in tables
    }
    if len(causes) != len(tables):
        raise CatalogueError("two entries have one id")
    return {table["id"]: read({**table, "cause": causes[table["id"]]}, causes) for table in tables}


@cache
def _files() -> list[dict[str, Any]]:
    paths = sorted(Path(__file__).parent.glob("*.toml"))
    return [tomllib.loads(path.read_text("utf-8")) for path in paths]


@cache
def _topics() -> dict[str, re.Pattern[str]]:
    return topics_of(file.get("topic", {}) for file in _files())


def plain(message: str) -> str:
    """A message as entries spell it: lower case, plain quotes, single spaces."""
    return " ".join(typeset.plain(message).lower().split())


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


def question_in(text: str) -> Message | None:
    """Return the entry of what somebody asks in words who sees no error, or None.

    A title that holds three topics of an entry decides; otherwise the line that holds the most
    together, and if the whole text holds more of another, that one. An entry that is general is
    asked for only if no other is, and the title names nothing that `touched_in` explains. What
    stands between quotation marks is what others said.
    """
    entries = (entry for entry in catalogue().values() if entry.question)
    asked = sorted(entries, key=lambda entry: entry.general)
    special = [entry for entry in asked if not entry.general]
    lines = _prose(text)
    held = [(line, _held(line, _asked_topics())) for line in lines]
    title, below = _asked_most(held[:1], asked), _asked_most(held[1:], special)
    best = title if title[0] >= min(below[0], DECISIVE) else below
    if best[0] == 0:
        joined = (f"{line} {next_one}" for line, next_one in pairwise(lines) if line and next_one)
        best = _asked_most([(line, _held(line, _asked_topics())) for line in joined], special)
    if best[0] == 0 and held:
        best = _asked_below_title(held, special)
    if title[0] == 0:
        whole = frozenset[str]().union(*(topics for _, topics in held))
        subjects = [max(map(len, _among(whole, entry.subjects)), default=0) for entry in asked]
        best = max((best, (max(subjects, default=0), _most(asked, subjects))), key=itemgetter(0))
    if best[1] is None and _touched(lines[:1]) is not None and asks_something(text):
        return None
    return best[1] or _asked_most(held, asked)[1]


def _quoted(said: re.Match[str]) -> str:
    """Return a quoted name; several words between quotation marks are what others said."""
    return "" if " " in said[1].strip() else said[1]


def touched_in(text: str) -> tuple[Message, str] | None:
    """Return the entry of a topic that words touch which ask something, with the words that name
    it; None if they ask nothing. To be used where `question_in` finds no question.
    """
    return _touched(_prose(text)) if asks_something(text) else None


def asks_something(text: str) -> bool:
    """Return True if a line of words asks something."""
    return any(said_of(line, _ASKING) for line in _prose(text))


def _touched(lines: Sequence[str]) -> tuple[Message, str] | None:
    entries = [entry for entry in catalogue().values() if entry.touches]
    touched = ((e, said_of(line, e.touches)) for line in lines for e in entries)
    return next(((entry, said[0]) for entry, said in touched if said is not None), None)


def _prose(text: str) -> list[str]:
    lines = _ADDRESS.sub("", text.replace("`", "")).splitlines()
    return [_SAID.sub(_quoted, plain(line)) for line in lines]


def _asked_most(
    held: Sequence[tuple[str, frozenset[str]]], asked: Sequence[Message]
) -> tuple[int, Message | None]:
    """Return how many topics of an entry a line holds, at most, and the entry."""
    counted = [[_said(line, topics, entry.asks) for entry in asked] for line, topics in held]
    best = max(counted, key=lambda counts: max(counts, default=0), default=[])
    return max(best, default=0), _most(asked, best)


def _asked_below_title(
    held: Sequence[tuple[str, frozenset[str]]], asked: Sequence[Message]
) -> tuple[int, Message | None]:
    """Return the entry of which the title holds some topics, and a line below it the others."""
    titled = held[0][1]
    counts = [
        max((_rest_said(line, topics, titled, e.asks) for line, topics in held[1:]), default=0)
        for e in asked
    ]
    return max(counts, default=0), _most(asked, counts)


def _rest_said(
    line: str, topics: frozenset[str], titled: frozenset[str], alternatives: Iterable[Sequence[str]]
) -> int:
    shared = ((names, [n for n in names if n not in titled]) for names in alternatives)
    split = [(names, rest) for names, rest in shared if not titled.isdisjoint(names) and rest]
    said = (
        names
        for names, rest in split
        if topics.issuperset(rest) and not _HOW_ASKED.issuperset(rest) and said_of(line, [rest])
    )
    return max(map(len, said), default=0)


def named_in_words(line: str) -> Message | None:
    """Return the entry of a message that words name without its text, or None."""
    text = plain(line)
    if (topics := _held(text, _named_topics())) == frozenset():
        return None
    entries = [entry for entry in catalogue().values() if entry.named]
    return _most(entries, [_said(text, topics, entry.named) for entry in entries])


def _most(entries: Sequence[Message], counts: Sequence[int]) -> Message | None:
    """Return the first entry with the highest count; None if all are 0."""
    highest = max(counts, default=0)
    return entries[counts.index(highest)] if highest else None


@cache
def _asked_topics() -> Mapping[str, re.Pattern[str]]:
    return _topics_of(names for e in catalogue().values() for names in e.asks + e.subjects)


@cache
def _named_topics() -> Mapping[str, re.Pattern[str]]:
    return _topics_of(names for entry in catalogue().values() for names in entry.named)


def _topics_of(lists: Iterable[Sequence[str]]) -> dict[str, re.Pattern[str]]:
    return {name: _topics()[name] for names in lists for name in names}


def _held(line: str, topics: Mapping[str, re.Pattern[str]]) -> frozenset[str]:
    """Return those of the topics that a line holds."""
    return frozenset(name for name, topic in topics.items() if line and topic.search(line))


def _among(topics: frozenset[str], alternatives: Iterable[Sequence[str]]) -> list[Sequence[str]]:
    return [names for names in alternatives if topics.issuperset(names)]


def _said(line: str, topics: frozenset[str], alternatives: Iterable[Sequence[str]]) -> int:
    """Return how many topics the line holds together, at most, of one of the alternatives. A topic
    that is enough alone counts as two.
    """
    if not topics:
        return 0
    found = (names for names in _among(topics, alternatives) if said_of(line, [names]))
    return max((max(len(names), 2) for names in found), default=0)


def said_of(line: str, alternatives: Sequence[Sequence[str]]) -> tuple[str, str] | None:
    """Return the words of a line that hold all topics of one of the alternatives, with what
    precedes them in their sentence. Raise KeyError for a topic that no file defines.
    """
    topics = _topics()
    said = (close_together([topics[name] for name in names], line) for names in alternatives)
    return next(filter(None, said), None)


def entry_for(message: str, family: Family, kind: str | None, code: str = "") -> Message | None:
    """The entry of a message; of one that no text identifies, that of its family and kind."""
    found = entry_of(message, code)
    if found is not None and found.family == family:
        return found
    errors = (entry for entry in catalogue().values() if not entry.question)
    alike = (e for e in errors if (e.family, e.kind) == (family, kind))
    return next(alike, None) if family != "other" else None
