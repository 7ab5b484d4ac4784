"""Lines on standard error, under the command's own output."""

from __future__ import annotations

import os
import sys

from app.present.visible import visible

_COLOURS = {"+": "32", "-": "31", " ": "2", "bold": "1", "dim": "2", "good": "32", "bad": "33"}
RULE = "── gradmend " + "─" * 56


class Paint:
    """Colours, where the terminal shows them."""

    def __init__(self) -> None:
        self._on = sys.stderr.isatty() and not os.environ.get("NO_COLOR")

    def __call__(self, text: str, kind: str) -> str:
        return f"\x1b[{_COLOURS[kind]}m{text}\x1b[0m" if self._on else text


def say(text: str) -> None:
    """Print a line on standard error, ignoring a terminal that is gone."""
    try:
        print(visible(text) if "\x1b" not in text else text, file=sys.stderr, flush=True)
    except OSError:
        return


def note(text: str) -> None:
    """Print a line in Gradmend's name."""
    say(f"gradmend: {text}")
