"""Names, as a text lists them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def said(names: Iterable[str]) -> str:
    """Names in a text, each once."""
    return " and ".join(f"`{name}`" for name in dict.fromkeys(names)) or "the value"


def some(names: Sequence[str], most: int = 4) -> str:
    """The first names in a text, with how many more there are."""
    told = ", ".join(f"`{name}`" for name in names[:most])
    return f"{told} and {len(names) - most} more" if len(names) > most else told
