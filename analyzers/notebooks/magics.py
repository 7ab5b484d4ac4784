"""What only IPython understands, made into Python of the same number of lines."""

from __future__ import annotations

import ast

_MAGICS = ("%", "!", "?")


def neutralised(source: str) -> list[str]:
    """Return the cell's lines with magics turned into `pass` or a comment."""
    lines = source.splitlines() or [""]
    if _parses(lines):
        return lines
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if lines[first].lstrip().startswith("%%"):
        python = lines[first].split()[0] in ("%%time", "%%timeit", "%%capture", "%%prun")
        kept = lines[first + 1 :] if python else [f"# {line}" for line in lines[first + 1 :]]
        inner = neutralised("\n".join(kept)) if kept else []
        return [*lines[:first], f"# {lines[first]}", *inner]
    return [_plain_line(line) for line in lines]


def _plain_line(line: str) -> str:
    """Return one line without magics: `x = !ls` and `%time f()` keep what is Python."""
    text = line.lstrip()
    indent = line[: len(line) - len(text)]
    if text.startswith(("%time ", "%timeit ")):
        return indent + text.partition(" ")[2]
    if text.startswith(_MAGICS) or (text.endswith("?") and not text.startswith("#")):
        return f"{indent}pass  # {text}"
    name, equals, value = text.partition("=")
    if equals and value.strip().startswith(("!", "%")) and name.strip().isidentifier():
        return f"{indent}{name.strip()} = None  # {value.strip()}"
    return line


def _parses(lines: list[str]) -> bool:
    try:
        ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
