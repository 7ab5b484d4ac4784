"""Read the exception that ended a run from the traceback that Python printed."""

from __future__ import annotations

import re

from sandbox.protocol import Raised, RaisedFrame
from sandbox.walls.places import PROJECT

_HEADER = "Traceback (most recent call last):"
_FRAME = re.compile(r'  File "(?P<file>.*)", line (?P<line>\d{1,9})(?:, in (?P<function>.*))?')
_LAST = re.compile(r"(?P<type>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?", re.DOTALL)
_MARKS = re.compile(r"\s*[~^]+\s*")
_LIBRARIES = ("/site-packages/", "/dist-packages/", "/lib/python3.")
_JOB = f"{PROJECT}/"
_MAX_MESSAGE = 8192


def last_exception(stderr: str) -> Raised | None:
    """Return the last traceback in `stderr`, with frames outermost first; None if there is none."""
    lines = stderr.splitlines()
    starts = [at for at, line in enumerate(lines) if line == _HEADER]
    if not starts:
        return None
    block = lines[starts[-1] :]
    frames, at = _frames(block)
    said = _LAST.fullmatch("\n".join(block[at:]))
    if said is None:
        return None
    return Raised(
        type=said["type"],
        message=(said["message"] or "").strip()[:_MAX_MESSAGE],
        frames=frames,
        traceback="\n".join(lines[starts[0] :]) + "\n",
    )


def _shown(file: str) -> str:
    """Return job files relative to the job's directory, library files by their module path."""
    if file.startswith(_JOB):
        return file.removeprefix(_JOB)
    for marker in _LIBRARIES:
        before, found, module = file.rpartition(marker)
        if found and before.startswith("/"):
            return module.partition("/")[2] if marker.endswith(".") else module
    return file


def _frames(block: list[str]) -> tuple[list[RaisedFrame], int]:
    """Return the frames of a traceback and the index of what follows them."""
    frames: list[RaisedFrame] = []
    at = 1
    while at < len(block) and block[at].startswith("  "):
        found = _FRAME.fullmatch(block[at])
        if found is not None:
            frame = RaisedFrame(
                file=_shown(found["file"]),
                line=int(found["line"]),
                function=found["function"] or "",
            )
            frames.append(frame)
        elif frames and not frames[-1].code and not _MARKS.fullmatch(block[at]):
            frames[-1] = frames[-1].model_copy(update={"code": block[at].strip()})
        at += 1
    return frames, at
