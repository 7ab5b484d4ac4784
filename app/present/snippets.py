"""The changed lines of a patched file, with a little context."""

from __future__ import annotations

from analyzers.source.linediff import opcodes

CONTEXT = 2


def snippet_of(before: str, after: str) -> str:
    """Return the new lines with `CONTEXT` lines around them; gaps are shown as `...`."""
    old, new = before.splitlines(), after.splitlines()
    shown: set[int] = set()
    for tag, _, _, start, end in opcodes(old, new):
        if tag != "equal":
            first, last = max(0, start - CONTEXT), min(len(new), max(end, start + 1) + CONTEXT)
            shown.update(range(first, last))
    lines: list[str] = []
    last = -1
    for number in sorted(shown):
        if last >= 0 and number > last + 1:
            lines.append("...")
        lines.append(new[number])
        last = number
    return "\n".join(lines)
