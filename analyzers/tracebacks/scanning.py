"""Finds frames and exceptions in clean lines: plain Python, IPython old and new, anomaly mode."""

from __future__ import annotations

import re
from dataclasses import dataclass

from analyzers.tracebacks.frame_lines import (
    MAX_CODE,
    PLAIN,
    column,
    exception_of,
    frame_of,
    numbered,
)
from analyzers.tracebacks.model import TracebackFrame, TracebackPart

MAX_FRAMES = 200
MAX_MESSAGE = 4000
MAX_WARNINGS = 40

_ARROW = re.compile(r"-{1,8}> ?(\d{1,7})(?: (.{0,500}))?$")
# Anomaly mode's account of the forward call within a message, and where a view was made.
_MADE_AT = re.compile(
    r"(?:allocated at|\bforward (?:call|pass|trace|traceback)\b[^:]{0,80}"
    r"|traceback of forward[^:]{0,80}):$",
    re.IGNORECASE,
)
_OP_OF = re.compile(r"output \d+ of (\w{1,120})|Function '(\w{1,120})'")
_DETECTED = re.compile(r"Error detected in (\w{1,120})")
_CHAIN = (
    "The above exception was the direct cause of",
    "During handling of the above exception",
)
_WARNED = re.compile(r":\d{1,7}: (?:[A-Za-z_]\w{0,40}\.){0,4}[A-Z]\w{0,60}Warning: ")
_LEFT_OUT = re.compile(r"\.{3,12}|…|[\[(<][\w .,…-]{1,60}[\])>]")  # `[cut]` among frames
# How a statement begins, with the number of its line or without: no message goes on like this.
_STATEMENT = re.compile(
    r"(?:\d{1,6}[:|)]?[ \t]{1,12})?"
    r"(?:import |from [\w.]{1,80} import |def |class |@|#|(?:for|while|with|if) .{0,400}:$"
    r"|[\w.\[\]]{1,80}(?:\[[^\[\]]{1,60}\][\w.]{0,40})? ?[-+*/]?= ?[^=\s]"
    r"|[\w.]{1,80}\([^()]{0,200}\)$)"
)


class _Scanner:
    """State while lines are read in order."""

    def __init__(self) -> None:
        self.parts: list[TracebackPart] = []
        self.frames: list[TracebackFrame] = []
        self.forward: list[TracebackFrame] = []
        self.forward_op = ""
        self.in_forward = False
        self.wants_code = False
        self.warned = False
        self.warnings: list[str] = []
        self.exception = ""
        self.message: list[str] = []

    def feed(self, line: str) -> bool:
        """Read one line; whether it is part of a traceback."""
        text = line.strip()
        below_warning = self.warned and line[:1].isspace()
        self.warned = (warning := _WARNED.search(line)) is not None
        if warning is not None and len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(line[warning.end() :].strip())
        if self._made_at(text):
            return True
        if self.exception and self._goes_on(text):
            return True
        if any(mark in text for mark in _CHAIN):
            self.finish()
            return True
        if detected := _DETECTED.search(text):
            self._begin_forward(detected.group(1))
            return True
        if text.startswith("Traceback (most recent call last)") or text.endswith(
            "Traceback (most recent call last)"
        ):
            self._begin()
            return True
        if self._frame(text) or self._arrow(text) or self.warned or below_warning:
            return True
        if self.wants_code and text and not exception_of(line):
            self._give_code(text)
            return True
        if found := exception_of(line):
            self.exception, first = found
            self.message = [first]
            self.wants_code = False
            return True
        if self.frames and (numbered(text) or _LEFT_OUT.fullmatch(text)):
            return True
        return bool(text) and set(text) <= set("-^~ ")

    def _made_at(self, text: str) -> bool:
        """Return True if the frames of the forward call follow, which a message or line
        announces."""
        last = self.message[-1] if self.exception and self.message else ""
        if last and _MADE_AT.search(last) and frame_of(text) is not None:
            found = _OP_OF.search(" ".join(self.message))
            self._begin_forward(next(filter(None, found.groups()), "") if found else "")
            return self._frame(text)
        alone = not self.exception and exception_of(text) is None
        if alone and _MADE_AT.search(text) and not _DETECTED.search(text):
            self._begin_forward(self.forward_op)
            return True
        return False

    def _goes_on(self, text: str) -> bool:
        """Return True if the line continues the message of the exception before it."""
        ends = (
            not text
            or text.startswith(("Traceback (most", "File ", "```", "[W", "-----"))
            or text.endswith("Traceback (most recent call last)")
            or any(mark in text for mark in _CHAIN)
            or _DETECTED.search(text)
            or _STATEMENT.match(text)
        )
        if ends:
            self.finish()
            return not text
        if sum(map(len, self.message)) < MAX_MESSAGE:
            self.message.append(text)
        return True

    def _begin(self) -> None:
        """Begin a new traceback: frames so far without an exception were anomaly mode's, or cut
        off."""
        if self.in_forward:
            self.forward = self.frames
            self.in_forward = False
        elif self.exception or self.frames:
            self.finish()
        self.frames = []
        self.wants_code = False

    def _begin_forward(self, op: str) -> None:
        self.finish()
        self.in_forward = True
        self.forward_op = op

    def _frame(self, text: str) -> bool:
        frame = frame_of(text)
        if frame is None:
            return False
        if len(self.frames) < MAX_FRAMES:
            self.frames.append(frame)
        else:
            self.frames[-1] = frame
        self.wants_code = True
        return True

    def _arrow(self, text: str) -> bool:
        """Parse IPython's `---> 12 code`, the frame above's line; return True if it matches."""
        match = _ARROW.match(text)
        if match is None:
            return False
        last = self.frames.pop() if self.frames else TracebackFrame("")
        code = (match.group(2) or "").strip()
        self.frames.append(
            TracebackFrame(
                last.file, int(match.group(1)), last.function, code, last.is_library, last.cell
            )
        )
        self.wants_code = False
        return True

    def _give_code(self, text: str) -> None:
        if set(text) <= set("^~ "):
            return
        last = self.frames[-1]
        if last.code or (text[:1].isdigit() and last.cell is not None):
            return
        if numbered(text) and (last.line == 0 or last.cell is not None):
            return
        self.frames[-1] = TracebackFrame(
            last.file, last.line, last.function, text[:MAX_CODE], last.is_library, last.cell
        )
        self.wants_code = False

    def finish(self) -> None:
        """Close the part that is open."""
        if self.in_forward and self.frames and not self.exception:
            self.forward, self.frames = self.frames, []
            self.in_forward = False
        if self.exception or self.frames:
            if self.in_forward:
                self.in_forward = False
            message = "\n".join(self.message).strip()[:MAX_MESSAGE]
            self.parts.append(TracebackPart(self.exception, message, tuple(self.frames)))
        self.frames, self.exception, self.message = [], "", []
        self.wants_code = False


@dataclass(frozen=True, slots=True)
class Scanned:
    """The chain of tracebacks, anomaly mode's forward frames with the node that it names, the
    indexes of the lines that hold all this, and what Python warned of."""

    parts: tuple[TracebackPart, ...]
    forward: tuple[TracebackFrame, ...]
    forward_op: str
    taken: tuple[int, ...]
    warnings: tuple[str, ...] = ()


def scan(lines: list[str]) -> Scanned:
    """Return the errors in a text's lines."""
    scanner = _Scanner()
    taken: list[int] = []
    for at, line in enumerate(lines):
        if not scanner.frames and _is_cut_above(lines, at, taken):
            scanner.frames.append(TracebackFrame("", 0, "", lines[at - 1].strip()[:MAX_CODE]))
            taken.append(at - 1)
        if scanner.feed(line):
            taken.append(at)
    scanner.finish()
    found = tuple(scanner.parts[-40:]), tuple(scanner.forward), scanner.forward_op
    return Scanned(*found, tuple(taken), tuple(scanner.warnings))


def _is_cut_above(lines: list[str], at: int, taken: list[int]) -> bool:
    """Return True if a traceback begins in the middle of a frame.

    Its code has no frame line, and is indented more than the frame that follows.
    """
    last = taken[-1] if taken else -1
    if at == 0 or last == at - 1 or not PLAIN.match(lines[at].strip()):
        return False
    code, above = lines[at - 1], lines[at - 2].strip() if at > 1 else ""
    parted = last == at - 2 or set(above) <= set("-=*_~.`")
    return bool(code.strip()) and column(code) > column(lines[at]) > 0 and parted
