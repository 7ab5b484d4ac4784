"""Records one process of the command, and leaves word of what its files and its end were."""

from __future__ import annotations

import atexit
import json
import os
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from .. import failure, frames
from ..engine import Call, Calls, Observer, Stopped
from ..frames import Json
from ..session import Session

_BESIDE_PYTHON = os.path.dirname(sys.executable)
MOST_FILES, MOST_BYTES = 64, 1 << 20
_AUTOGRAD = ("second time", "inplace operation", "in-place", "require grad", "grad_fn", "[0]")


class Witness:
    """The tracer in a process that it did not start.

    `box` is where the records go, `job` what a run in the sandbox would be told too; `as_begun`
    says that the program left the environment alone before it imported torch.
    """

    def __init__(self, box: str, job: Json, *, as_begun: bool = False) -> None:
        self._box = box
        self._job = job
        self._as_begun = as_begun
        self._pid = os.getpid()
        self._begun = time.time()
        self._loaded = frozenset(sys.modules)
        self._main = _main_file()  # Python takes its name away before the process ends
        self._failed: BaseException | None = None
        self._parts: Iterator[Callable[[], int]] = iter(())
        self._ended = False

    def begin(self) -> None:
        """Put the instruments in place: torch has just been imported."""
        job = {**self._job, "entry": self._main or "main.py", "beside": True}
        job["launcher"] = __file__ if self._main else os.path.abspath(sys.argv[0])
        job["stand_ins"] = False
        records = os.open(self._path("jsonl"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        session = Session(job, records)
        session.further.append(Failures(self))
        self._parts = session.parts()
        self.attempt: Any = next(self._parts)
        self._tell(None)
        atexit.register(self.finish)
        sys.excepthook = _without_own_frames(sys.excepthook)
        if session.engine is not None and session.engine.enough is not None:
            enough = session.engine.enough
            session.engine.enough = lambda calls: enough(calls) and self._leave(calls)

    def failed(self, error: Exception) -> None:
        """A backward call has raised: if the program catches it and ends, it is still told."""
        if any(word in str(error) for word in _AUTOGRAD):
            self._failed = error

    def finish(self, stopped: bool = False) -> None:
        """Tell how the process ended; once, and not in a fork of it."""
        if self._ended or os.getpid() != self._pid:
            return
        self._ended = True
        last = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        error = Stopped() if stopped else last or self._failed
        self.attempt.error = error
        with suppress(Exception):
            next(self._parts, None)
        self._tell(error)

    def _leave(self, calls: Calls) -> NoReturn:
        """Enough was seen: end here, before the program saves, logs or cleans up anything."""
        self.finish(stopped=True)
        os._exit(0)

    def _tell(self, error: BaseException | None) -> None:
        main = self._main
        told = {
            "pid": self._pid,
            "rank": int(os.environ.get("RANK") or 0),
            "begun": self._begun,
            "seconds": time.time() - self._begun,
            "argv": sys.argv,
            "words": sys.orig_argv,
            "parent": os.getppid(),
            "as_begun": self._as_begun,
            "main": frames.file_name(main) if main else None,
            "files": _files(main),
            "torch": sorted(n for n in sys.modules.keys() - self._loaded if n[:6] == "torch."),
            "error": type(error).__name__ if error is not None else None,
            "cuda": _uses_cuda(),
        }
        part = Path(self._path("part"))
        part.write_text(json.dumps(told))
        part.replace(self._path("about"))

    def _path(self, kind: str) -> str:
        return os.path.join(self._box, f"{self._pid}.{kind}")


class Failures(Observer):
    """Tells the witness of calls that failed."""

    def __init__(self, witness: Witness) -> None:
        self._witness = witness

    def failed(self, call: Call, error: Exception) -> None:
        """The engine, or what it ran, has raised."""
        self._witness.failed(error)


def _without_own_frames(show: Callable[..., Any]) -> Callable[..., Any]:
    """What shows an exception, shown none of the tracer's frames in it."""

    def shown(kind: Any, error: BaseException, traceback: Any) -> None:
        show(kind, error.with_traceback(failure.without_own_frames(traceback)), error.__traceback__)

    return shown


def _main_file() -> str | None:
    """The main file, where it is a program of the user's and not a command that was installed."""
    main = getattr(sys.modules.get("__main__"), "__file__", None) or sys.argv[0]
    path = os.path.abspath(main)
    installed = os.path.dirname(path) in (sysconfig.get_path("scripts"), _BESIDE_PYTHON)
    own = os.path.isfile(path) and not installed and frames.OWNERS[path] == frames.USER
    return path if own else None


def _files(main: str | None) -> dict[str, str]:
    """The user's sources that this process has loaded: as records name them → where they are."""
    found: dict[str, str] = {}
    size = 0
    loaded = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    for path in dict.fromkeys([main, *loaded]):
        if not isinstance(path, str) or not path.endswith(".py"):
            continue
        if frames.OWNERS[path] != frames.USER or not os.path.isfile(path):
            continue
        size += os.path.getsize(path)
        if len(found) < MOST_FILES and size <= MOST_BYTES:
            found[frames.file_name(path)] = os.path.realpath(path)
    return found


def _uses_cuda() -> bool:
    torch: Any = sys.modules.get("torch")
    with suppress(Exception):
        return bool(torch.cuda.is_initialized())
    return False
