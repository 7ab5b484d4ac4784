"""Finds frames and exceptions in clean lines: plain Python, IPython old and new, anomaly mode."""

from __future__ import annotations

import re

from analyzers.tracebacks.model import Frame, Part

MAX_FRAMES = 200
MAX_MESSAGE = 4000

_PLAIN = re.compile(r'File "([^"]{1,500})", line (\d{1,7})(?:, in (.{0,200}))?')
_CELL = re.compile(
    r"(?:Cell |Input )?In ?\[(\d{1,6})\],? (?:line (\d{1,7}))?(?:,? ?in (.{0,200}))?"
)
_CELL_LINE = re.compile(r"<(?:cell )?line: (\d{1,7})>")
_OLD_CELL = re.compile(r"<ipython-input-(\d{1,6})-[0-9a-f]{1,40}> in (.{0,200})")
_OLD_CELL_FILE = re.compile(r"<ipython-input-(\d{1,6})-|ipykernel_\d{1,9}[/\\](\d{1,12})\.py")
_IPYTHON_PATH = re.compile(
    r"(?:File )?((?:[A-Za-z]:|~|/|\.|<)?[^:\s][^:]{0,400}):(\d{1,7}), in (.{0,200})"
)
_OLD_PATH = re.compile(r"((?:[A-Za-z]:\\|~|/|\.{1,2}/)\S{1,400}) in (\S.{0,200})")
_ARROW = re.compile(r"-{1,8}> ?(\d{1,7})(?: (.{0,500}))?$")
_EXCEPTION = re.compile(r"((?:[A-Za-z_]\w{0,80}\.){0,8}[A-Z]\w{0,80})(?:: ?(.{0,2000}))?$")
_DETECTED = re.compile(r"Error detected in (\w{1,120})")
_CHAIN = (
    "The above exception was the direct cause of",
    "During handling of the above exception",
)
_LIBRARY = (
    "/site-packages/",
    "/dist-packages/",
    "/lib/python",
    "/torch/",
    "<frozen ",
    "<__array_function__",
    "<string>",
)
_ENDINGS = ("Error", "Exception", "Warning", "Interrupt", "Exit", "Iteration", "Failure")


class _Scanner:
    """State while lines are read in order."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.frames: list[Frame] = []
        self.forward: list[Frame] = []
        self.forward_op = ""
        self.in_forward = False
        self.wants_code = False
        self.exception = ""
        self.message: list[str] = []

    def feed(self, line: str) -> None:
        text = line.strip()
        if self.exception and self._goes_on(line, text):
            return
        if any(mark in text for mark in _CHAIN):
            self.finish()
            return
        if detected := _DETECTED.search(text):
            self._begin_forward(detected.group(1))
            return
        if text.startswith("Traceback (most recent call last)") or text.endswith(
            "Traceback (most recent call last)"
        ):
            self._begin()
            return
        if self._frame(text) or self._arrow(text):
            return
        if self.wants_code and text and not _exception(line):
            self._give_code(text)
            return
        if found := _exception(line):
            self.exception, first = found
            self.message = [first]
            self.wants_code = False

    def _goes_on(self, line: str, text: str) -> bool:
        """Whether the line continues the message of the exception before it."""
        ends = (
            not text
            or text.startswith(("Traceback (most", "File ", "```", "[W", "-----"))
            or text.endswith("Traceback (most recent call last)")
            or any(mark in text for mark in _CHAIN)
        )
        if ends:
            self.finish()
            return not text
        if sum(map(len, self.message)) < MAX_MESSAGE:
            self.message.append(text)
        return True

    def _begin(self) -> None:
        """A new traceback: frames so far without an exception were anomaly mode's, or cut off."""
        if self.in_forward:
            self.forward = self.frames
            self.in_forward = False
        elif self.exception or self.frames:
            self.finish()
        self.frames = []

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
        """IPython's `---> 12 code`: the line of the frame above."""
        match = _ARROW.match(text)
        if match is None:
            return False
        if self.frames:
            last = self.frames[-1]
            code = (match.group(2) or "").strip()
            self.frames[-1] = Frame(
                last.file, int(match.group(1)), last.function, code, last.is_library, last.cell
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
        self.frames[-1] = Frame(
            last.file, last.line, last.function, text[:500], last.is_library, last.cell
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
            self.parts.append(Part(self.exception, message, tuple(self.frames)))
        self.frames, self.exception, self.message = [], "", []
        self.wants_code = False


def scan(lines: list[str]) -> tuple[list[Part], list[Frame], str]:
    """The chain of tracebacks, anomaly mode's forward frames, and the node that it names."""
    scanner = _Scanner()
    for line in lines:
        scanner.feed(line)
    scanner.finish()
    return scanner.parts[-40:], scanner.forward, scanner.forward_op


def _numbered(text: str) -> bool:
    """IPython's context lines start with their number."""
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


def _frame(text: str) -> Frame | None:
    """The frame that a line opens, in any of the shapes."""
    if plain := _PLAIN.search(text):
        path, line, function = plain.groups()
        return _made(path, int(line), function or "")
    if old := _OLD_CELL.match(text):
        return Frame(f"cell {old.group(1)}", 0, _name(old.group(2)), cell=int(old.group(1)))
    if text.startswith(("Cell ", "Input ", "In [", "In[")) and (cell := _CELL.match(text)):
        number, line, function = cell.groups()
        inner = _CELL_LINE.search(function or "")
        known = int(line or (inner.group(1) if inner else 0))
        return Frame(f"cell {number}", known, _name(function or ""), cell=int(number))
    if "in " in text and len(text) < 700:
        if new := _IPYTHON_PATH.match(text):
            return _made(new.group(1), int(new.group(2)), new.group(3))
        if (path := _OLD_PATH.match(text)) and not text.endswith(":"):
            return _made(path.group(1), 0, path.group(2))
    return None


def _made(path: str, line: int, function: str) -> Frame:
    path = path.replace("\\", "/")
    cell = _OLD_CELL_FILE.search(path)
    number = int(cell.group(1)) if cell and cell.group(1) else None
    library = number is None and any(mark in f"/{path}" for mark in _LIBRARY)
    name = f"cell {number}" if number is not None else path
    return Frame(name, line, _name(function), is_library=library, cell=number)


def _name(function: str) -> str:
    """The function's bare name: `train(model, loader)` → `train`."""
    name = function.strip().partition("(")[0].strip()
    return "<module>" if name in ("", "<module>") or name.startswith("<cell") else name
