"""List and count things in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def said(names: Iterable[str]) -> str:
    """Return the names, each once, joined by "and"."""
    return " and ".join(f"`{name}`" for name in dict.fromkeys(names)) or "the value"


def some(names: Sequence[str], most: int = 4) -> str:
    """Return the first names, and how many more there are."""
    text = ", ".join(f"`{name}`" for name in names[:most])
    return f"{text} and {len(names) - most} more" if len(names) > most else text


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 step`, `2 steps`; `plural` if that is not noun and s."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def lowered(text: str) -> str:
    """Return a title as it continues after a colon: "NumPy" and "L-BFGS" keep their case."""
    stays = any(map(str.isupper, text.partition(" ")[0][1:]))
    return text if stays else text[:1].lower() + text[1:]
