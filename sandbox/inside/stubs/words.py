"""Packages whose functions give back a text or its words."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .null_object import NullModule

PROVIDES = ("unidecode", "nltk", "jieba", "ftfy", "termcolor", "sacremoses", "inflect")
SAYS = "not installed here: texts are split into words at spaces"


def same(text: Any = "", *args: Any, **kwargs: Any) -> Any:
    """Return the text unchanged."""
    return text


def words(text: str = "", *args: Any, **kwargs: Any) -> list[str]:
    """Return the words that spaces separate."""
    return str(text).split()


def module(name: str) -> ModuleType:
    """Return `nltk.tokenize`, `unidecode`, …"""
    split = dict.fromkeys(("word_tokenize", "wordpunct_tokenize", "lcut", "cut"), words)
    kept = dict.fromkeys(("unidecode", "fix_text", "colored"), same)
    return NullModule(name, **split, **kept)
