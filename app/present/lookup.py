"""Patterns by what somebody has: an id, a name, a pasted message, a few words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from analyzers.explain.pattern import by_id, pattern_for, usually
from analyzers.tracebacks import parse
from app.present.guide import Guide, guides

MOST_WORDS = 12
LONGEST = 8000  # characters of what is looked up


@dataclass(frozen=True, slots=True)
class PatternHit:
    """A pattern that fits; `sure` where the text names it, or its message comes of nothing else."""

    guide: Guide
    sure: bool = False


def search(text: str) -> list[PatternHit]:
    """Return the patterns that a text points to, best first: by id or name, by the error that it
    holds, else by its words; empty where nothing fits."""
    asked = text.strip()[:LONGEST]
    name = by_id().get(asked.upper(), asked.lower())
    if name in guides():
        return [PatternHit(guides()[name], sure=True)]
    return _by_message(asked) or _by_words(asked)


def _by_message(text: str) -> list[PatternHit]:
    """Return the patterns of the error's family, the one that alone causes it first."""
    error = parse(text)
    if error.family == "other":
        return []
    only = pattern_for(error.kind)
    family = [guide for guide in guides().values() if guide.family == error.family]
    family.sort(key=lambda guide: (guide.name != only, guide.name not in usually(), guide.name))
    return [PatternHit(guide, sure=guide.name == only) for guide in family]


def _by_words(text: str) -> list[PatternHit]:
    words = set(re.findall(r"[a-z_]{3,}", text.lower())) if text else set()
    scored = [(len(words & _words_of(guide)), guide) for guide in guides().values()]
    most = max((score for score, _ in scored), default=0)
    if not most or len(words) > MOST_WORDS:
        return []
    return [PatternHit(guide) for score, guide in scored if score == most]


def _words_of(guide: Guide) -> set[str]:
    page_text = f"{guide.name.replace('-', ' ')} {guide.title} {guide.lead}"
    return set(re.findall(r"[a-z_]{3,}", page_text.lower()))
