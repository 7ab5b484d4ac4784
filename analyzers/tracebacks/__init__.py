"""Pasted tracebacks: what was raised, where, and through which frames, whatever printed them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from analyzers.messages import entry_of, named_in_words
from analyzers.tracebacks.cleaning import MAX_CHARACTERS, clean_lines
from analyzers.tracebacks.frame_lines import spoken_frame, warned_frame
from analyzers.tracebacks.messages import (
    classify,
    is_denied,
    quoted_error,
    reads_missing_grad,
    warned_of_grad,
)
from analyzers.tracebacks.model import ParsedTraceback, TracebackFrame, TracebackPart
from analyzers.tracebacks.scanning import Scanned, scan

__all__ = [
    "MAX_CHARACTERS",
    "ParsedTraceback",
    "TracebackFrame",
    "TracebackPart",
    "lines_of_error",
    "parse",
]

MAX_WRAPPED = 3  # lines over which a quoted message is broken
_BETWEEN = re.compile(r"""(["']) +f?\1""")  # of two literals that Python joins
MAX_PARAGRAPH = 8  # lines in which it may be said that no such error is raised


def parse(text: str) -> ParsedTraceback:
    """Return the error in a pasted text, in time linear in its length.

    The last part of a chain is the error, unless an earlier part has a known family (or frames) and
    the last has none: that is what somebody tried next. A message elsewhere (in a title, above the
    frames) belongs to the frames that have none. A text without any frame or message gives an empty
    result.
    """
    lines = clean_lines(text)
    scanned = scan(lines)
    parts = _whole(scanned, lines)
    classified = [(part, *classify(part)) for part in parts]
    known = [entry for entry in classified if entry[1] != "other"]
    framed = [entry for entry in known if entry[0].frames]
    chosen = (framed or known or classified or [(TracebackPart(), "other", None)])[-1]
    part, family, kind = chosen
    if family == "other" and warned_of_grad(part, lines):
        family, kind = "no-grad", "nonleaf"
    if family == "other" and reads_missing_grad(part, lines):
        family, kind = "no-grad", "rebound"
    return ParsedTraceback(
        exception=part.exception,
        message=part.message,
        family=family,
        kind=kind,
        frames=part.frames,
        forward_frames=tuple(replace(frame) for frame in scanned.forward),
        forward_op=scanned.forward_op,
        other_errors=tuple(entry[1:] for entry in known if entry is not chosen),
        warnings=scanned.warnings,
        prose_only=not part.frames and not any(one.exception for one in scanned.parts),
    )


def lines_of_error(text: str) -> frozenset[int]:
    """Return indexes of the lines (of `text.splitlines()`) that are part of a traceback."""
    lines = "\n".join(text.splitlines())
    cut_off = lines[: max(len(lines) - MAX_CHARACTERS, 0)].count("\n")
    return frozenset(cut_off + at for at in scan(clean_lines(lines)).taken)


def _whole(scanned: Scanned, lines: Sequence[str]) -> list[TracebackPart]:
    """Return the parts, each with its message and its frames, wherever in the text these are."""
    parts = list(scanned.parts)
    if not any(classify(part)[0] != "other" for part in parts):
        known = _mentioned(lines)
        if known is not None and not any(part.exception for part in parts):
            parts.append(known)
    framed = [part.message for part in parts if part.frames]
    bare = [
        part
        for part in parts
        if part.exception and not part.frames and not _begins(part.message, framed)
    ]
    if not bare:
        return parts
    nameless = [part for part in parts if part.frames and not part.exception]
    frames = nameless[-1].frames if nameless else _spoken(lines)
    completed = replace(bare[-1], frames=frames)
    left_out = [bare[-1], *nameless[-1:]]
    return [*(part for part in parts if part not in left_out), completed]


def _begins(message: str, whole: Sequence[str]) -> bool:
    """Return True if a message, as in a title that cuts it off, begins one of the others."""
    return any(one.startswith(message.rstrip(" .…")) for one in whole)


def _mentioned(lines: Sequence[str]) -> TracebackPart | None:
    """Return the first message of a known kind in the prose around the code, or None.

    Messages that the prose denies are skipped.
    """
    for wrapped in range(1, MAX_WRAPPED + 1):
        for at in range(len(lines) - wrapped + 1):
            text = _BETWEEN.sub("", " ".join(lines[at : at + wrapped]))
            if (part := quoted_error(text)) is not None:
                warned = warned_frame(lines[at], next(iter(lines[at + wrapped :]), ""))
                own = (warned,) if warned is not None and not warned.is_library else ()
                denied = _is_denied_at(at, wrapped, lines)
                below = _more_of(part, lines[at + wrapped :])
                said = "\n".join([part.message, *below])
                return None if denied else replace(part, message=said, frames=own)
    for at, line in enumerate(lines):
        if (entry := named_in_words(line)) is not None and not _is_denied_at(at, 1, lines):
            return TracebackPart(entry.exception, entry.texts[0])
    return None


def _more_of(part: TracebackPart, lines: Sequence[str]) -> list[str]:
    """Return what further lines hold of the same message: a title often cuts it off."""
    entry = entry_of(part.message)
    if entry is None or entry.family == "other":
        return []
    found = (quoted_error(line) for line in lines)
    same = (one.message for one in found if one is not None and entry_of(one.message) is entry)
    return [text for text in dict.fromkeys(same) if text not in part.message]


def _is_denied_at(at: int, count: int, lines: Sequence[str]) -> bool:
    """Return True if the paragraph of so many lines says that no such error is raised."""
    paragraph = takewhile(str.strip, lines[at + count : at + MAX_PARAGRAPH])
    return is_denied(" ".join([*lines[at : at + count], *paragraph]))


def _spoken(lines: Sequence[str]) -> tuple[TracebackFrame, ...]:
    """Return a location in prose: `In file "model.py", line 51`, with the code below it."""
    for at, line in enumerate(lines):
        if (frame := spoken_frame(line)) is not None:
            code = lines[at + 1].strip() if at + 1 < len(lines) else ""
            return (replace(frame, code=frame.code or code[:500]),)
    return ()
