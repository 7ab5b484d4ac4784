"""A pattern's docstring as the page that users read.

The first paragraph is the lead. A paragraph that starts with a few words and a colon gets them as
its heading. `Broken::` and `Fixed::` introduce the two examples.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from inspect import cleandoc
from textwrap import dedent

from analyzers.explain.pattern import Pattern, by_id, patterns

LOCAL = "http://127.0.0.1:8000"  # where `gradmend serve` listens by default
_HEADED = re.compile(r"([A-Z][a-z' ]{2,40}):\s+(?=\S)")
_BLOCK = re.compile(r"^(Broken|Fixed)::\n((?:\n|[ \t]+.*(?:\n|$))+)", re.MULTILINE)
_GAP = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Section:
    """`heading` is empty for a paragraph without one; `text` is Markdown."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Guide:
    """The guide to a pattern; `broken` and `mended` are Python, or '' if the docstring has none.

    `shown_as`: how such a fault is described and drawn, if its family is not specific enough: by
    what adds up over iterations (`graphs`, `gradients`), by what is `starved`, or `overwritten`.
    """

    id: str
    name: str
    family: str
    title: str
    lead: str
    sections: tuple[Section, ...]
    broken: str
    mended: str
    shown_as: str

    @property
    def remedy(self) -> str:
        """Return the remedy in one sentence; '' if the page does not say."""
        fix = next((part.text for part in self.sections if part.heading == "The fix"), "")
        return re.split(r"(?<=[.:;])\s", " ".join(fix.split()), maxsplit=1)[0].rstrip(":;")

    @property
    def text(self) -> str:
        """Return the sections as Markdown, each under its heading."""
        headed = ((f"**{part.heading}.** " if part.heading else "", part) for part in self.sections)
        return "\n\n".join(heading + part.text for heading, part in headed)


def page_of(id: str) -> str:
    """Return the address of a pattern's page: of the service that `GRADMEND_PUBLIC_URL` names,
    else of one that runs here."""
    return f"{os.environ.get('GRADMEND_PUBLIC_URL') or LOCAL}/patterns/{id}"


@cache
def guides() -> dict[str, Guide]:
    """Return a guide to every pattern, by name, in alphabetical order."""
    return {name: _guide(pattern) for name, pattern in sorted(patterns().items())}


def guide_of(asked: str) -> Guide | None:
    """Return the guide to a pattern, by its id or its name in any case; None if there is none."""
    return guides().get(by_id().get(asked.upper(), asked.lower()))


def nearest_name(asked: str) -> str:
    """Return the name or id of a pattern that is spelled nearly as what was asked for, or ""."""
    names = [*guides(), *by_id()]
    return next(iter(get_close_matches(asked, names, 1)), "")


def _guide(pattern: Pattern) -> Guide:
    doc = cleandoc(pattern.__doc__ or pattern.TITLE)
    blocks = {match[1]: dedent(match[2]).strip("\n") for match in _BLOCK.finditer(doc)}
    lead, *paragraphs = [part.strip() for part in _GAP.split(_BLOCK.sub("", doc)) if part.strip()]
    return Guide(
        pattern.ID,
        pattern.NAME,
        pattern.FAMILY,
        pattern.TITLE,
        " ".join(lead.split()),
        tuple(_section(paragraph) for paragraph in paragraphs),
        blocks.get("Broken", ""),
        blocks.get("Fixed", ""),
        getattr(pattern, "SHOWN_AS", pattern.FAMILY),
    )


def _section(paragraph: str) -> Section:
    head = _HEADED.match(paragraph)
    if not head:
        return Section("", paragraph)
    text = paragraph[head.end() :]
    return Section(head[1], text[0].upper() + text[1:])
