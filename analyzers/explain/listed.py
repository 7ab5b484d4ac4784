"""List names in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def said(names: Iterable[str]) -> str:
    """Return the names, each once, joined by "and"."""
    return " and ".join(f"`{name}`" for name in dict.fromkeys(names)) or "the value"


def some(names: Sequence[str], most: int = 4) -> str:
    """Return the first names, and how many more there are."""
    text = ", ".join(f"`{name}`" for name in names[:most])
    return f"{text} and {len(names) - most} more" if len(names) > most else text
