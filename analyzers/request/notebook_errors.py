"""Locate the error of a notebook in the script that its cells form."""

from __future__ import annotations

from dataclasses import replace

from analyzers.notebooks.notebook import (
    LineMap,
    stored_errors,
)
from analyzers.tracebacks import ParsedTraceback, TracebackFrame, parse


def error_of(text: str, traceback: str) -> ParsedTraceback | None:
    """Return the error to explain: the given one, else one of a known kind in the notebook's
    outputs (an interrupted cell is no fault).
    """
    if traceback.strip():
        return parse(traceback)
    stored = parse(stored_errors(text))
    return stored if stored.family != "other" else None


def in_cells(parsed: ParsedTraceback, script: str, lines: LineMap, entry: str) -> ParsedTraceback:
    """Return the traceback with frames in cells (`Cell In[4], line 2`) converted to lines of the
    script.
    """
    code = [line.strip() for line in script.splitlines()]

    def located(frame: TracebackFrame) -> TracebackFrame:
        if frame.cell is None:
            return frame
        line = lines.script_line(frame.cell, frame.line)
        if frame.code and (line is None or code[line - 1] != frame.code.strip()):
            same = [n for n, text in enumerate(code, 1) if text == frame.code.strip()]
            line = same[0] if len(same) == 1 else line
        return replace(frame, file=entry, line=line) if line is not None else frame

    return replace(
        parsed,
        frames=tuple(map(located, parsed.frames)),
        forward_frames=tuple(map(located, parsed.forward_frames)),
    )


def failing(parsed: ParsedTraceback | None, lines: LineMap, entry: str) -> int | None:
    """Return the cell that raised the error: that of the outermost frame within the notebook."""
    for frame in parsed.frames if parsed is not None else ():
        if frame.file == entry and lines.cells:
            return lines.position(frame.line)[0]
    return None
