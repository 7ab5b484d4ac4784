"""The entries of the catalogue and the topics that they name, read from the TOML files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from analyzers.messages.entry import CatalogueError, Message, read
from analyzers.messages.topics import close_together, topics_of
from analyzers.source import typeset


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


def topics_in(lists: Iterable[Sequence[str]]) -> dict[str, re.Pattern[str]]:
    """Return the pattern of each topic of some lists by its name."""
    return {name: _topics()[name] for names in lists for name in names}


def held(line: str, topics: Mapping[str, re.Pattern[str]]) -> frozenset[str]:
    """Return those of the topics that a line holds."""
    return frozenset(name for name, topic in topics.items() if line and topic.search(line))


def among(topics: frozenset[str], alternatives: Iterable[Sequence[str]]) -> list[Sequence[str]]:
    """Return the alternatives of which all topics are among those that are given."""
    return [names for names in alternatives if topics.issuperset(names)]


def said_of(line: str, alternatives: Sequence[Sequence[str]]) -> tuple[str, str] | None:
    """Return the words of a line that hold all topics of one of the alternatives, with what
    precedes them in their sentence. Raise KeyError for a topic that no file defines.
    """
    topics = _topics()
    said = (close_together([topics[name] for name in names], line) for names in alternatives)
    return next(filter(None, said), None)
