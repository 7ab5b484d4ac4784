"""Pasted tracebacks: what was raised, where, and through which frames, whatever printed them."""

from __future__ import annotations

from dataclasses import replace

from analyzers.tracebacks.cleaning import MAX_CHARACTERS, clean_lines
from analyzers.tracebacks.messages import classify
from analyzers.tracebacks.model import Frame, ParsedTraceback, Part
from analyzers.tracebacks.scanning import scan

__all__ = ["MAX_CHARACTERS", "Frame", "ParsedTraceback", "Part", "parse"]


def parse(text: str) -> ParsedTraceback:
    """The error that a pasted text speaks of, in time linear in its length.

    Of a chain the last part is the error, unless an earlier one is of a family that we know and
    the last is not. A text without any frame or exception gives an empty result.
    """
    parts, forward, forward_op = scan(clean_lines(text))
    classified = [(part, *classify(part)) for part in parts]
    known = [entry for entry in classified if entry[1] != "other"]
    chosen = (known or classified or [(Part(), "other", None)])[-1]
    part, family, hint = chosen
    return ParsedTraceback(
        exception=part.exception,
        message=part.message,
        family=family,
        pattern_hint=hint,
        frames=part.frames,
        forward_frames=tuple(replace(frame) for frame in forward),
        forward_op=forward_op,
        parts=tuple(parts),
    )
