"""Records one process of the command, and leaves word of what its files and its end were."""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NoReturn

from ..core.engine import Call, Calls, Observer, Stopped
from ..core.frames import USER, Json, owner
from ..core.tries import ANY, survives
from ..errors import failure
from ..script_run import ScriptRun
from .process_report import ProcessReport, last_error

_AUTOGRAD = ("second time", "inplace operation", "in-place", "require grad", "grad_fn", "[0]")


class AttachedTracer:
    """The tracer in a process that it did not start.

    `box` is where the records go, `job` the instructions that a run in the sandbox would get;
    `settings` of torch's are those that the program changed before it imported torch.
    """

    def __init__(self, box: str, job: Json, settings: Mapping[str, str | None]) -> None:
        self._job = job
        self._pid = os.getpid()
        self._word = ProcessReport(box, time.time(), settings)
        self._failed: BaseException | None = None
        self._parts: Iterator[Callable[[], int]] = iter(())
        self._ended = False

    def begin(self) -> None:
        """Put the instruments in place: torch has just been imported."""
        main = self._word.main
        job = {**self._job, "entry": main or "main.py", "attached": True}
        job["launcher"] = __file__ if main else os.path.abspath(sys.argv[0])
        job["stubs"] = False
        records = os.open(self._word.path("jsonl"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        session = ScriptRun(job, records)
        session.instruments.further.append(FailureReporter(self))
        self._parts = session.parts()
        self.attempt: Any = next(self._parts)
        self._word.leave(None)
        atexit.register(self.finish)
        sys.excepthook = _without_own_frames(sys.excepthook)
        engine = session.instruments.engine
        if engine is not None and engine.enough is not None:
            enough = engine.enough
            engine.enough = lambda calls: enough(calls) and self._leave(calls)

    def failed(self, error: Exception) -> None:
        """Record a backward call that raised, in case the program catches the error and ends."""
        if any(word in str(error) for word in _AUTOGRAD):
            self._failed = error

    def went_on(self) -> None:
        """Forget the call that raised: another one came after it, and did not."""
        self._failed = None

    def finish(self, stopped: bool = False) -> None:
        """Tell how the process ended; once, and not in a fork of it."""
        if self._ended or os.getpid() != self._pid:
            return
        self._ended = True
        error = Stopped() if stopped else last_error() or self._failed
        self.attempt.error = error
        with suppress(Exception):
            next(self._parts, None)
        with suppress(OSError):  # the disk is full; the records tell that they stop early
            self._word.leave(error, given_up=error is self._failed and _is_swallowed(error))

    def _leave(self, calls: Calls) -> NoReturn:
        """End the process once enough was seen, before the program saves, logs or cleans up
        anything."""
        self.finish(stopped=True)
        os._exit(0)


class FailureReporter(Observer):
    """Reports failed calls to the witness."""

    def __init__(self, witness: AttachedTracer) -> None:
        self._witness = witness

    def failed(self, call: Call, error: Exception) -> None:
        """Record that the engine, or what it ran, has raised."""
        self._witness.failed(error)

    def after(self, call: Call) -> None:
        """Record that the program goes on."""
        self._witness.went_on()

    glanced = after


def _is_swallowed(error: BaseException | None) -> bool:
    """Return True if the program ended well where it catches whatever is raised."""
    caught = error.__traceback__ if error is not None else None
    if caught is None or owner(caught.tb_frame.f_code) != USER:
        return False
    return survives(caught.tb_frame.f_code.co_filename, caught.tb_lineno, ANY)


def _without_own_frames(show: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that prints exceptions so that it omits the tracer's frames."""

    def shown(kind: Any, error: BaseException, traceback: Any) -> None:
        show(kind, error.with_traceback(failure.without_own_frames(traceback)), error.__traceback__)

    return shown
