"""Read single lines of tracebacks: frames, exceptions, cells."""

from __future__ import annotations

import re
from dataclasses import replace

from analyzers.tracebacks.libraries import is_installed
from analyzers.tracebacks.model import TracebackFrame

PLAIN = re.compile(  # what stands before the path may be cut off
    r'(?:[Ff]ile "|^)([^"]{1,500})" ?, ?line (\d{1,7})(?:, in (.{0,200}))?'
)
_SPOKEN = re.compile(
    r"(?:^|[\s(\"'`])([\w./\\-]{1,200}\.py)[\"'`]?(?: ?, ?(?:at |on )?line |:)(\d{1,7})\b"
)
_WARNED = re.compile(r"([^:\s][^:]{0,400}\.py):(\d{1,7}): (?:[\w.]{1,160}\.)?\w{0,60}Warning: ")
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
_EXCEPTION = re.compile(r"((?:[A-Za-z_]\w{0,80}\.){0,8}[A-Z]\w{0,80})(?:: ?(.{0,2000}))?$")
MAX_CODE = 500  # characters of a frame's line
_HEADINGS = ("Error", "Exception", "Warning")  # above an error, if nothing follows them
_ENDINGS = ("Error", "Exception", "Warning", "Interrupt", "Exit", "Iteration", "Failure")


def column(line: str) -> int:
    return len(line) - len(line.lstrip())


def spoken_frame(line: str) -> TracebackFrame | None:
    """Return a location in prose: `In file "model.py", line 51`, `it fails at train.py:12`."""
    match = _SPOKEN.search(line[:700])
    return _made(match.group(1), int(match.group(2)), "") if match is not None else None


def warned_frame(line: str, below: str) -> TracebackFrame | None:
    """Return the location that a warning of Python begins with, and the line of code below it."""
    match = _WARNED.match(line)
    frame = _made(match.group(1), int(match.group(2)), "") if match is not None else None
    return replace(frame, code=below.strip()[:MAX_CODE]) if frame is not None else None


def numbered(text: str) -> bool:
    """Return True if the line starts with a number, as IPython's context lines do."""
    return text.split(" ", 1)[0].isdigit()


def exception_of(line: str) -> tuple[str, str] | None:
    """`Name: message` at the start of a line."""
    text = line.strip()
    if text.startswith("E   "):
        text = text[4:].strip()
    match = _EXCEPTION.match(text)
    if match is None:
        return None
    name, message = match.group(1), match.group(2)
    if not message and (name in _HEADINGS or (message is None and not name.endswith(_ENDINGS))):
        return None
    if not name.rpartition(".")[2].endswith(_ENDINGS) and (line[:1] == " " or "." not in name):
        return None
    return name.rpartition(".")[2], message or ""


def frame_of(text: str) -> TracebackFrame | None:
    """Return the frame that a line opens, in any known format, or None."""
    if plain := PLAIN.search(text):
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
    library = number is None and is_installed(f"/{path}")
    name = f"cell {number}" if number is not None else path
    return TracebackFrame(name, line, _name(function), is_library=library, cell=number)


def _name(function: str) -> str:
    """Return the function's bare name: `train(model, loader)` → `train`."""
    name = function.strip().partition("(")[0].strip()
    return "<module>" if name in ("", "<module>") or name.startswith("<cell") else name
