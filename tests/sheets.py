"""Sheets: Markdown files that hold programs as data.

A sheet is a row of sections, each under a `## title`. A section holds fenced blocks, of which the
first word is a language and the rest a name (```` ```python train.py ````); the text between the
fences is kept to the byte; `(no newline at the end)` behind the name says that it ends without one.
Words outside the blocks are for readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

_PART = re.compile(
    r"^## +(?P<title>[^\n]+)$"
    r"|^(?P<fence>`{3,})(?P<language>[^\s`]*) *(?P<name>[^`\n]*)\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
_CUT = "(no newline at the end)"
_FENCE = re.compile(r"^`{3,}", re.MULTILINE)
_LANGUAGES = {".py": "python", ".ipynb": "json", ".toml": "toml", ".yaml": "yaml", ".json": "json"}


class SheetError(ValueError):
    """A sheet or a section that cannot be read; the message says what to change."""


@dataclass(frozen=True)
class Block:
    """One fenced block; `name` is empty where the fence names nothing."""

    language: str
    name: str
    text: str


@dataclass(frozen=True)
class Section:
    """A title and the blocks under it, in their order."""

    title: str
    blocks: tuple[Block, ...]


def sections(sheet: str) -> list[Section]:
    """Return the sections of a sheet. Raise `SheetError` for a fence that is never closed and for
    a block that stands ahead of every title."""
    if _FENCE.search(_PART.sub("", sheet)):
        raise SheetError("a fenced block is never closed")
    found: list[tuple[str, list[Block]]] = []
    for part in _PART.finditer(sheet):
        if part["title"]:
            found.append((part["title"].strip(), []))
        elif not found:
            raise SheetError(f"a block stands ahead of the first title: {part['name']}")
        else:
            found[-1][1].append(_block(part["language"], part["name"].strip(), part["text"]))
    return [Section(title, tuple(blocks)) for title, blocks in found]


def written(section: Section, words: str = "") -> str:
    """Return the section as it stands in a sheet, with some words ahead of its blocks."""
    head = [f"## {section.title}\n", *([f"{words}\n"] if words else [])]
    return "\n".join([*head, *map(_fenced, section.blocks)])


def stored(sheet: str, section: Section) -> str:
    """Return the sheet with a section put in the place of the one with its title, the words ahead
    of whose blocks stay, or put at the end."""
    starts = [part for part in _PART.finditer(sheet) if part["title"]]
    ends = [*(part.start() for part in starts), len(sheet)][1:]
    for part, end in zip(starts, ends, strict=True):
        if part["title"].strip() == section.title:
            block = _PART.search(sheet, part.end())
            words = sheet[part.end() : block.start() if block else end].strip()
            text = written(section, words) + ("\n" if end < len(sheet) else "")
            return sheet[: part.start()] + text + sheet[end:]
    return f"{sheet.rstrip()}\n\n{written(section)}"


def language_of(path: str) -> str:
    """Return the word that a fence has for a file of this name."""
    return _LANGUAGES.get(PurePosixPath(path).suffix, "text")


def _block(language: str, name: str, text: str) -> Block:
    if name.endswith(_CUT):
        return Block(language, name.removesuffix(_CUT).strip(), text.removesuffix("\n"))
    return Block(language, name, text)


def _fenced(block: Block) -> str:
    fence = "`" * (max(_fences(block.text), default=2) + 1)
    cut = block.text != "" and not block.text.endswith("\n")
    words = [block.language, *([block.name] if block.name else []), *([_CUT] if cut else [])]
    return f"{fence}{' '.join(words)}\n{block.text}" + ("\n" if cut else "") + f"{fence}\n"


def _fences(text: str) -> Iterator[int]:
    """The lengths of what a reader of Markdown could take for a fence."""
    return (len(run[1]) for run in re.finditer(r"^[-+ ]*(`{3,})", text, re.MULTILINE))
