"""The cause of an exception, in the process that raised it: `explain(error)`, `with watch():`.

The work is done by a process of Gradmend's own: nothing but this package is imported here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import traceback
from contextlib import ContextDecorator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

READING_S, RUNNING_S = 60, 300
_RAISED_BY_AUTOGRAD = (RuntimeError, ValueError, AttributeError, TypeError)
_WORDS = ("grad", "backward", "graph", "inplace", "in-place", "nonetype")
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")

Json = dict[str, Any]


@dataclass(frozen=True)
class Explanation:
    """Why an exception was raised, and its fix; printed, it is a few lines of text.

    `line` counts from 1 in `file`; `diff` is '' if there is no fix; `tested`: the fix ran in the
    sandbox and passed its checks. `findings` is everything, as the API returns it.
    """

    summary: str
    pattern: str
    file: str
    line: int
    diff: str
    tested: bool
    findings: Json = field(repr=False)

    def __str__(self) -> str:
        cause = self.findings["causes"][0]
        lines = [
            f"gradmend: {self.summary}",
            f"  {self.file}:{self.line}  {cause['location']['code']}",
        ]
        if self.diff:
            lines += [
                "tested fix:" if self.tested else "probable fix, not tested:",
                self.diff.rstrip(),
            ]
        return "\n".join(lines)


def explain(error: BaseException | None = None, *, run: bool = False) -> Explanation | None:
    """Explain an exception, by default the one being handled.

    Return None if it is none of autograd's, or its cause is unknown. With `run`, the program is
    also run in a sandbox, to test the fix.
    """
    error = error or sys.exception() or getattr(sys, "last_value", None)
    if error is None or not concerns_autograd(error):
        return None
    entry = _entry(error)
    if entry is None:
        return None
    printed = "".join(traceback.format_exception(error))
    return explanation_of(diagnosed(entry, printed, run=run))


def concerns_autograd(error: BaseException) -> bool:
    """Return True if it may be worth a closer look; its diagnosis decides."""
    message = str(error).lower()
    return isinstance(error, _RAISED_BY_AUTOGRAD) and any(word in message for word in _WORDS)


def diagnosed(script: str, printed: str, *, run: bool, text: str | None = None) -> Json | None:
    """Return the findings about a script, or, for `-`, about a `text` without a file; None if
    none."""
    with tempfile.TemporaryDirectory(prefix="gradmend-") as folder:
        traceback_file = Path(folder, "traceback.txt")
        traceback_file.write_text(printed, encoding="utf-8", errors="replace")
        command = [sys.executable, "-P", "-m", "gradmend", "diagnose", script, "--format", "json"]
        command += ["--traceback", str(traceback_file), "--run", "auto" if run else "never"]
        try:
            done = subprocess.run(
                command,
                input=text or "",
                capture_output=True,
                encoding="utf-8",
                timeout=RUNNING_S if run else READING_S,
            )
            findings: Json = json.loads(done.stdout)[0]  # one script was named
        except (OSError, ValueError, LookupError, subprocess.TimeoutExpired):
            return None
    return findings


def explanation_of(findings: Json | None) -> Explanation | None:
    """Return findings that name a cause as an explanation, else None."""
    if findings is None or not findings["causes"] or findings["error"] is None:
        return None
    if findings["error"]["family"] == "other":
        return None
    cause = findings["causes"][0]
    patch = next(iter(findings["patches"]), None)
    status = patch["verification"]["status"] if patch else "failed"
    return Explanation(
        findings["summary"],
        cause["pattern"],
        cause["location"]["file"],
        cause["location"]["line"],
        patch["diff"] if patch and status != "failed" else "",
        status == "passed",
        findings,
    )


class watch(ContextDecorator):  # noqa: N801 (reads as a statement)
    """`with gradmend.watch():` or `@gradmend.watch()`: an autograd error that leaves it carries its
    cause under its traceback."""

    def __init__(self, *, run: bool = False) -> None:
        self._run = run

    def __enter__(self) -> watch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            note_cause(error, run=self._run)


def note_cause(error: BaseException, *, run: bool = False) -> None:
    """Put the cause under the traceback of an error, once."""
    if any(note.startswith("gradmend: ") for note in getattr(error, "__notes__", ())):
        return
    explanation = explain(error, run=run)
    if explanation is not None:
        error.add_note(str(explanation))


def _entry(error: BaseException) -> str | None:
    """Return the program's main file, else the first of the user's files that the error went
    through.

    The main file counts if the error went through it, or through none of the user's (a trainer's
    callback sees it early).
    """
    codes = (frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__))
    files = [path for code in codes if (path := _own(code.co_filename))]
    main = _own(getattr(sys.modules.get("__main__"), "__file__", None) or "")
    return main if main in files or not files else files[0]


def _own(path: str) -> str | None:
    """Return the real path of a file that is the user's; None for libraries and what is no file."""
    path = os.path.realpath(path)
    library = any(part in path for part in _PACKAGES) or path.startswith(_library_folders())
    return path if os.path.isfile(path) and not library else None


@cache
def _library_folders() -> tuple[str, ...]:
    """Return the folders of libraries: Python's, Gradmend's, and those that installers add."""
    own = os.path.dirname(os.path.realpath(__file__))
    folders = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), own]
    main = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    users = {os.getcwd(), os.path.dirname(os.path.realpath(main))}
    paths = {os.path.realpath(folder) for folder in sys.path if folder} - users
    folders += [folder for folder in paths if any(Path(folder).glob("*.dist-info"))]
    return tuple(os.path.realpath(folder) + os.sep for folder in folders)
