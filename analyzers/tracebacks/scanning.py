"""Finds frames and exceptions in clean lines: plain Python, IPython old and new, anomaly mode."""

from __future__ import annotations

import re
from dataclasses import dataclass

from analyzers.tracebacks.model import TracebackFrame, TracebackPart

MAX_FRAMES = 200
MAX_MESSAGE = 4000
MAX_WARNINGS = 40
MAX_CODE = 500  # characters of a frame's line

_PLAIN = re.compile(  # what stands before the path may be cut off
    r'(?:[Ff]ile "|^)([^"]{1,500})" ?, ?line (\d{1,7})(?:, in (.{0,200}))?'
)
_SPOKEN = re.compile(
    r"(?:^|[\s(\"'`])([\w./\\-]{1,200}\.py)[\"'`]?(?: ?, ?(?:at |on )?line |:)(\d{1,7})\b"
)
_CELL = re.compile(
    r"(?:Cell |Input )?In ?\[(\d{1,6})\],? (?:line (\d{1,7}))?(?:,? ?in (.{0,200}))?"
)
_CELL_LINE = re.compile(r"<(?:cell )?line: (\d{1,7})>")
_OLD_CELL = re.compile(r"<ipython-input-(\d{1,6})-[0-9a-f]{1,40}> in (.{0,200})")
_OLD_CELL_FILE = re.compile(r"<ipython-input-(\d{1,6})-|ipykernel_\d{1,9}[/\\](\d{1,12})\.py")
_IPYTHON_PATH = re.compile(
    r"(?:File )?((?:[A-Za-z]:|~|/|\.|<)?[^:\s][^:]{0,400}):(\d{1,7}),? in (.{0,200})"
)
_PATH_ALONE = re.compile(r"File ((?:[A-Za-z]:|~|/|\.)[^:]{1,400}):(\d{1,7})$")
_OLD_PATH = re.compile(r"((?:[A-Za-z]:\\|~|/|\.{1,2}/)\S{1,400}) in (\S.{0,200})")
_ARROW = re.compile(r"-{1,8}> ?(\d{1,7})(?: (.{0,500}))?$")
_EXCEPTION = re.compile(r"((?:[A-Za-z_]\w{0,80}\.){0,8}[A-Z]\w{0,80})(?:: ?(.{0,2000}))?$")
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
LIBRARY = (
    "/site-packages/",
    "/dist-packages/",
    "/lib/python",
    "/torch/",
    "<frozen ",
    "<__array_function__",
    "<string>",
)
_DRIVE = re.compile(r"[a-z]:/")
_OF_INSTALLATIONS = ("/envs/", "conda", "/python", "/programs/")
_WARNED = re.compile(r":\d{1,7}: (?:[A-Za-z_]\w{0,40}\.){0,4}[A-Z]\w{0,60}Warning: ")
_LEFT_OUT = re.compile(r"\.{3,12}|…|[\[(<][\w .,…-]{1,60}[\])>]")  # `[cut]` among frames
# How a statement begins, with the number of its line or without: no message goes on like this.
_STATEMENT = re.compile(
    r"(?:\d{1,6}[:|)]?[ \t]{1,12})?"
    r"(?:import |from [\w.]{1,80} import |def |class |@|#|(?:for|while|with|if) .{0,400}:$"
    r"|[\w.\[\]]{1,80}(?:\[[^\[\]]{1,60}\][\w.]{0,40})? ?[-+*/]?= ?[^=\s]"
    r"|[\w.]{1,80}\([^()]{0,200}\)$)"
)
_ENDINGS = ("Error", "Exception", "Warning", "Interrupt", "Exit", "Iteration", "Failure")


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
        if self.exception and self._goes_on(line, text):
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
        if self.wants_code and text and not _exception(line):
            self._give_code(text)
            return True
        if found := _exception(line):
            self.exception, first = found
            self.message = [first]
            self.wants_code = False
            return True
        if self.frames and (_numbered(text) or _LEFT_OUT.fullmatch(text)):
            return True
        return bool(text) and set(text) <= set("-^~ ")

    def _made_at(self, text: str) -> bool:
        """Return True if the frames of the forward call follow, which a message or line
        announces."""
        last = self.message[-1] if self.exception and self.message else ""
        if last and _MADE_AT.search(last) and _frame(text) is not None:
            found = _OP_OF.search(" ".join(self.message))
            self._begin_forward(next(filter(None, found.groups()), "") if found else "")
            return self._frame(text)
        alone = not self.exception and _exception(text) is None
        if alone and _MADE_AT.search(text) and not _DETECTED.search(text):
            self._begin_forward(self.forward_op)
            return True
        return False

    def _goes_on(self, line: str, text: str) -> bool:
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
        frame = _frame(text)
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
        if _numbered(text) and (last.line == 0 or last.cell is not None):
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
    if at == 0 or last == at - 1 or not _PLAIN.match(lines[at].strip()):
        return False
    code, above = lines[at - 1], lines[at - 2].strip() if at > 1 else ""
    parted = last == at - 2 or set(above) <= set("-=*_~.`")
    return bool(code.strip()) and _column(code) > _column(lines[at]) > 0 and parted


def _column(line: str) -> int:
    return len(line) - len(line.lstrip())


def spoken_frame(line: str) -> TracebackFrame | None:
    """Return a location in prose: `In file "model.py", line 51`, `it fails at train.py:12`."""
    match = _SPOKEN.search(line[:700])
    return _made(match.group(1), int(match.group(2)), "") if match is not None else None


def _numbered(text: str) -> bool:
    """Return True if the line starts with a number, as IPython's context lines do."""
    return text.split(" ", 1)[0].isdigit()


def _exception(line: str) -> tuple[str, str] | None:
    """`Name: message` at the start of a line."""
    text = line.strip()
    if text.startswith("E   "):
        text = text[4:].strip()
    match = _EXCEPTION.match(text)
    if match is None:
        return None
    name, message = match.group(1), match.group(2)
    if message is None and not name.endswith(_ENDINGS):
        return None
    if not name.rpartition(".")[2].endswith(_ENDINGS) and (line[:1] == " " or "." not in name):
        return None
    return name.rpartition(".")[2], message or ""


def _frame(text: str) -> TracebackFrame | None:
    """Return the frame that a line opens, in any known format, or None."""
    if plain := _PLAIN.search(text):
        path, line, function = plain.groups()
        return _made(path, int(line), function or "")
    if old := _OLD_CELL.match(text):
        return TracebackFrame(
            f"cell {old.group(1)}", 0, _name(old.group(2)), cell=int(old.group(1))
        )
    if text.startswith(("Cell ", "Input ", "In [", "In[")) and (cell := _CELL.match(text)):
        number, line, function = cell.groups()
        inner = _CELL_LINE.search(function or "")
        known = int(line or (inner.group(1) if inner else 0))
        return TracebackFrame(f"cell {number}", known, _name(function or ""), cell=int(number))
    if alone := _PATH_ALONE.match(text):
        return _made(alone.group(1), int(alone.group(2)), "")
    if "in " in text and len(text) < 700:
        if new := _IPYTHON_PATH.match(text):
            return _made(new.group(1), int(new.group(2)), new.group(3))
        if (path := _OLD_PATH.match(text)) and not text.endswith(":"):
            return _made(path.group(1), 0, path.group(2))
    return None


def _made(path: str, line: int, function: str) -> TracebackFrame:
    path = path.replace("\\", "/")
    cell = _OLD_CELL_FILE.search(path)
    number = int(cell.group(1)) if cell and cell.group(1) else None
    library = number is None and _is_installed(f"/{path}")
    name = f"cell {number}" if number is not None else path
    return TracebackFrame(name, line, _name(function), is_library=library, cell=number)


def _is_installed(path: str) -> bool:
    """Return True if a path leads into Python or a package.

    On Windows, Python's own files are in the folder `lib` of an installation.
    """
    if any(mark in path for mark in LIBRARY):
        return True
    lowered = path[1:].lower()
    at_home = any(mark in lowered for mark in _OF_INSTALLATIONS)
    return bool(_DRIVE.match(lowered)) and "/lib/" in lowered and at_home


def _name(function: str) -> str:
    """Return the function's bare name: `train(model, loader)` → `train`."""
    name = function.strip().partition("(")[0].strip()
    return "<module>" if name in ("", "<module>") or name.startswith("<cell") else name
