"""What ended a script: its exception, without the frames of those who watched."""

from __future__ import annotations

import linecache
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from ..core import frames
from ..core.frames import Json
from . import ddp


def without_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    """Return the traceback as a run without instruments prints it."""
    kept = [tb for tb in entries(traceback) if not frames.is_own(tb.tb_frame.f_code)]
    following: TracebackType | None = None
    for entry in reversed(kept):
        following = TracebackType(following, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return following


def show(error: BaseException) -> None:
    """Print the exception and its causes as Python does, except for the paths of files.

    The user's are relative, libraries' are module paths, the tracer's are left out.
    """
    pending = [traceback.TracebackException.from_exception(error)]
    whole = pending[0]
    while pending:
        one = pending.pop()
        one.stack[:] = [entry for entry in one.stack if not frames.is_own_file(entry.filename)]
        for entry in one.stack:
            entry.line  # noqa: B018 (reads the line, while its file still has its full name)
            entry.filename = frames.file_name(entry.filename)
        behind = [one.__cause__, one.__context__, *(getattr(one, "exceptions", None) or ())]
        pending += [other for other in behind if other is not None]
    sys.stderr.write("".join(whole.format()))


def shorten_warnings() -> None:
    """Spell files in warnings as tracebacks do here, rather than by where they are installed."""
    form: Any = warnings.formatwarning

    def forming(message: Any, category: Any, file: str, number: int, line: Any = None) -> Any:
        text = linecache.getline(file, number).strip() if line is None else line
        return form(message, category, frames.file_name(file), number, text)

    setting: Any = warnings
    setting.formatwarning = forming


def place_warnings() -> None:
    """Let a warning name the line that called the tracer's wrapper where that gave it, and be shown
    as often as there."""
    warnings.filterwarnings("always", module=re.escape(__name__.rsplit(".", 2)[0]))
    show: Any = warnings.showwarning

    def showing(message: Any, category: Any, file: str, *rest: Any, **more: Any) -> None:
        frame: FrameType | None = sys._getframe(1)  # of who shows it; who gives it is further out
        inside = frames.is_own_file(file)
        while inside and frame is not None and not frames.is_own(frame.f_code):
            frame = frame.f_back
        while inside and frame is not None and frames.is_own(frame.f_code):
            frame = frame.f_back
        if not inside or frame is None:
            show(message, category, file, *rest, **more)
            return
        names = frame.f_globals
        warnings.warn_explicit(
            message,
            category,
            frame.f_code.co_filename,
            frame.f_lineno,
            names.get("__name__"),
            names.setdefault("__warningregistry__", {}),
        )

    setting: Any = warnings
    setting.showwarning = showing


def entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    """Yield the entries of a traceback, outermost first."""
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def user_entries(error: BaseException) -> list[TracebackType]:
    """Return where the exception passed through the user's code, outermost first."""
    return [
        entry
        for entry in entries(error.__traceback__)
        if frames.owner(entry.tb_frame.f_code) == frames.USER
    ]


def place_of(entry: TracebackType) -> Json:
    """Return the line of a traceback's entry (its frame may have gone on since)."""
    return {**frames.place(entry.tb_frame), "line": entry.tb_lineno}


def record(error: BaseException) -> Json:
    """Return the `raised` record. Messages keep up to 4000 characters."""
    described = []
    for entry in entries(without_own_frames(error.__traceback__)):
        code = entry.tb_frame.f_code
        described.append(
            {
                "file": frames.file_name(code.co_filename),
                "line": entry.tb_lineno,
                "function": frames.function_name(code),
                "code": linecache.getline(code.co_filename, entry.tb_lineno).strip(),
                "library": frames.owner(code) != frames.USER,
            }
        )
    kind = type(error)
    name = kind.__qualname__
    if kind.__module__ not in ("builtins", "__main__"):
        name = f"{kind.__module__}.{name}"
    names = [name for name, _ in ddp.concerned(error) if name]
    about = {"message": _text(error), "frames": described[-64:], "parameters": names}
    return {"t": "raised", "type": name, **about}


def _text(error: BaseException) -> str:
    """Return the message; an exception of the user may fail to give one."""
    try:
        return str(error)
    except Exception as trouble:
        return f"<no message: {type(trouble).__name__}>"
