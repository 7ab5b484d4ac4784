"""What was typed at an interpreter's prompt and failed there, found in the transcript."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from analyzers.tracebacks import ParsedTraceback, TracebackFrame

_TYPED = re.compile(r'\s*File "<stdin>", line (\d+), in <module>')
_PROMPT = re.compile(r"\s*(>>>|\.\.\.)(?: (.*))?$")
MOST = 60  # lines from a frame to its message


def located_by_prompts(error: ParsedTraceback, text: str) -> ParsedTraceback:
    """Return the error with the frame of what was typed at its line of the text: the second line of
    `<stdin>` is the second of what follows the last `>>>` above the traceback."""
    lines = text.splitlines()
    frame = _typed(error, lines)
    if frame is None:
        return error
    frames = tuple(frame if f.function == "<module>" else f for f in error.frames)
    return replace(error, frames=frames)


def _typed(error: ParsedTraceback, lines: Sequence[str]) -> TracebackFrame | None:
    if not any(f.file == "<stdin>" and f.function == "<module>" for f in error.frames):
        return None
    named = f"{error.exception}: {error.message}".splitlines()[0][:200]
    for at in range(len(lines) - 1, -1, -1):
        found = _TYPED.match(lines[at])
        if found is None or not any(named in line for line in lines[at : at + MOST]):
            continue
        block = _block(lines, at)
        number = int(found[1])
        if number <= len(block):
            line = block[number - 1]
            code = _PROMPT.match(lines[line])
            return TracebackFrame(
                "<stdin>", line + 1, "<module>", (code[2] or "").strip() if code else ""
            )
    return None


def _block(lines: Sequence[str], end: int) -> list[int]:
    """Return the indexes of the lines that were typed last before one, from its `>>>` on."""
    block: list[int] = []
    for at in range(end - 1, -1, -1):
        prompt = _PROMPT.match(lines[at])
        if prompt is None:
            if block:
                break
            continue
        block.insert(0, at)
        if prompt[1] == ">>>":
            return block
    return []
