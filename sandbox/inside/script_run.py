"""One run of one script, from seeds to the last record."""

from __future__ import annotations

import os
import platform
import sys
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial

import torch

from .core import frames
from .core.clock import CLOCK, next_number
from .core.emitter import Emitter
from .core.engine import Stopped
from .core.frames import Json
from .errors import failure
from .guard import Guard
from .instruments import Instruments
from .references.common_random_numbers import seed_everything
from .script import needs, versions
from .script.entry import run_as_main


class ScriptRun:
    """Runs the script of a job, instrumented as it asks, and reports how it ended."""

    def __init__(self, job: Json, emit_fd: int) -> None:
        self.job = job
        self.entry = str(job.get("entry") or "train.py")
        self.emitter = Emitter(emit_fd)
        self.instruments = Instruments(job, self.emitter)

    def parts(self) -> Iterator[Callable[[], int]]:
        """Yield the parts of the run, to be called one by one: the script, then its exit code."""
        home = os.path.dirname(os.path.abspath(self.entry))
        frames.start_in(os.getcwd(), home, launcher=self.job.get("launcher"))
        if self.job.get("seed", True):
            seed_everything()
        if not self.job.get("attached"):
            needs.watch_arguments(self.emitter)
        if not self.job.get("launcher"):
            failure.shorten_warnings()
        if self.job.get("stubs", True):
            self._install_stubs()
        self._prepare_harness()
        if self.job.get("mode", "trace") != "plain":
            self.instruments.install()
        failure.place_warnings()
        self.emitter.emit(
            {
                "t": "start",
                "v": 1,
                "torch": torch.__version__,
                "python": platform.python_version(),
                "platform": versions.machine(),
                "stamps": self.instruments.stamps.kind,
            }
        )
        CLOCK.first_node = next_number()
        self.instruments.follow()
        guard, attempt = Guard(), Attempt(self._script())
        if self.instruments.engine is not None and not self.job.get("launcher"):
            kept = [(self, ("emitter", "instruments", "job")), *self.instruments.kept()]
            guard.begin(kept, [run, run_as_main, _called, Attempt.__call__])
        yield attempt
        reason, code = self._ended(attempt.error)
        self.instruments.finish(raised=reason == "raised")
        self.emitter.emit(
            {
                "t": "end",
                "reason": reason,
                "backwards": CLOCK.calls,
                "examined": self.instruments.attention.looked,
                "steps": CLOCK.steps,
                "truncated": self.instruments.budget.notes,
                "tampered": [*guard.found(), *self.instruments.tampered()][:16],
                "targets_with_graph": self.instruments.targets_with_graph,
                "constant_terms": self.instruments.constant_terms,
                "constant_at": self.instruments.constant_at,
                "packages": versions.imported(),
                "records": self.emitter.written + 1,
            }
        )
        yield lambda: code

    def _install_stubs(self) -> None:
        """Install the stubs; each is reported once, at its first use."""
        reported: set[str] = set()

        def report(name: str, detail: str, kind: str = "package") -> None:
            if name in reported:
                return
            reported.add(name)
            if kind == "package":
                self.emitter.emit({"t": "stub", "name": name, "detail": detail})
            else:
                self.emitter.emit({"t": "assumed", "kind": kind, "name": name, "text": detail})

        from . import resources, stubs  # absent from the downloadable file

        stubs.install(report)
        resources.install()

    def _explain(self, error: BaseException) -> None:
        """Tell what ended the script, in general and in autograd's terms."""
        self.emitter.emit(failure.record(error))
        needed = needs.of(error)
        if needed is not None:
            self.emitter.emit(needed)
        self.instruments.explain(error)

    def _prepare_harness(self) -> None:
        """Synthesize the harness before any instrument is in place."""
        if self.job.get("harness") is None:
            return
        from .harness.running import CompletedRun  # absent from the downloadable file

        argv = self.job.get("argv", [])
        self.completed = CompletedRun(self.entry, argv, self.job["harness"], self.emitter)
        self.plan = self.completed.plan()
        if self.completed.shows:  # the error itself ends the run
            self.job.pop("stop_after_backwards", None)
        seed_everything()

    def _script(self) -> Callable[[], None]:
        """Return what runs the script; it holds nothing of the session's."""
        if self.job.get("harness") is not None:
            return partial(self.completed.run, self.plan)
        return partial(run_as_main, self.job)

    def _ended(self, error: BaseException | None) -> tuple[str, int]:
        """Return why the script ended, and its exit code; report what ended it."""
        if error is None:
            return "finished", 0
        if isinstance(error, Stopped):
            return "stopped", 0
        if isinstance(error, SystemExit):
            code = exit_code(error)
            if code != 0:
                self.emitter.emit(failure.record(error))
            return "raised" if code else "finished", code
        self._explain(error)
        if not self.job.get("attached"):  # else the interpreter has shown it
            sys.stdout.flush()
            failure.show(error)
        return "raised", 1


class Attempt:
    """The call of the script, and the error with which it ended."""

    def __init__(self, script: Callable[[], None]) -> None:
        self._script = script
        self.error: BaseException | None = None

    def __call__(self) -> int:
        try:
            self._script()
        except BaseException as error:
            self.error = error
        return 0


def run(job: Json, emit_fd: int) -> int:
    """Run a job; the exit code of its script.

    C holds the session and calls its parts, so that no frame above the script leads to it.
    """
    return deque(map(_called, ScriptRun(job, emit_fd).parts()), maxlen=1)[0]


def _called(part: Callable[[], int]) -> int:
    return part()


def exit_code(error: SystemExit) -> int:
    """Return the exit code of `sys.exit(...)`; a message goes to standard error."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1
