"""Columns of tables and data sets that were not sent: their values follow from their names."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np

from .files import WORDS
from .noise import CLASSES, is_label
from .sources import texts

ROWS, LONG, LABELS = 128, 6, 2
PICTURES = frozenset({"image", "img", "jpg", "photo", "picture", "png"})
_FILES = PICTURES | {
    *("file", "filename", "filepath", "path", "wav", "audio", "video", "clip", "recording")
}
_TEXTS = (
    *("text", "title", "caption", "sentence", "review", "question", "comment", "description"),
    *("answer", "document", "premise", "hypothesis", "prompt", "summary", "article", "dialogue"),
)
_TEXTS_ALONE = frozenset({"body", "content", "en"})  # `alcohol_content` is a number
_STRING = re.compile(r"""["\']([\w-]+)["\']""")
_CLASSES = ("label", "class", "target", "category", "species", "_id")


def column(name: Any, rows: int = ROWS) -> Any:
    """Return a column of shape (rows,) by what its name says.

    The strings that the script compares the column with, in turn; small integers for labels, file
    names and sentences for what is called so (the last word of the name decides: `text_length` is
    a number), floats for the rest.
    """
    if values := compared_with(str(name)):
        return np.array([values[n % len(values)] for n in range(rows)], dtype=object)
    text = str(name).lower()
    words = words_of(name)
    if words[-1] in _FILES or words[-2:] == ["file", "name"]:
        return np.array([f"{text}_{n}" for n in range(rows)], dtype=object)
    if words[-1].endswith(_TEXTS) or text in _TEXTS_ALONE:
        sentences = [" ".join(WORDS[n % len(WORDS) :][:LONG]) for n in range(rows)]
        return np.array(sentences, dtype=object)
    if any(word in text for word in _CLASSES):
        return np.arange(rows) % LABELS
    random = np.random.default_rng(sum(map(ord, text)))
    return random.integers(1, CLASSES, rows) if is_label(text) else CLASSES * random.random(rows)


def cell(name: Any, number: int) -> Any:
    """Return the column's value in this row, as a Python object."""
    value = column(name)[number % ROWS]
    return value.item() if isinstance(value, np.generic) else value


def words_of(name: Any) -> list[str]:
    """Return the words of a column's name in lower case; an empty one if it has no letters."""
    return re.findall(r"[a-z]+", str(name).lower()) or [""]


@cache
def compared_with(name: str) -> tuple[str, ...]:
    """Return the strings that a line of the project compares this column with."""
    spelled = rf"""(?:\[["']{re.escape(name)}["']\]|\.{re.escape(name)})"""
    compared = re.compile(rf"{spelled}(?:\.isin\(\s*\[|\s*[=!]=)([^\n\])]{{0,120}})")
    found = (match[1] for text in texts() for match in compared.finditer(text))
    return tuple(dict.fromkeys(value for part in found for value in _STRING.findall(part)))
