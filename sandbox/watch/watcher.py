"""Watch one run from outside its walls, and end it when it exceeds a limit."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from sandbox.walls.limits import MIB, Limits
from sandbox.watch import memory
from sandbox.watch.outcome import ProcessOutcome
from sandbox.watch.rested import Rested
from sandbox.watch.script import Ends
from sandbox.watch.streams import Stream

TICK_S = 0.02
_WALLS_BUDGET_S = 30.0
_MESSAGE_BYTES = 65536
_MAX_HANDLES = 16


@dataclass(frozen=True)
class ForkedRun:
    """A run whose first process has been forked: its pid, and that as a handle.

    `kill` ends all processes of the run; `ours` are those in the run's /proc that are not the
    script's. On `ends.reports` the run's own trusted part says `{"places": …}` (with handles on
    its /proc and scratch directories), then `{"walls": …}` with the script's pid there, or
    `{"refused": …}`, and in the end `{"exit": …}`.
    """

    pid: int
    process: int
    kill: Callable[[], None]
    ours: frozenset[int]
    ends: Ends


def connect() -> tuple[Ends, Ends]:
    """Return the outer and inner ends of a run's streams and reports."""
    pipes = [os.pipe() for _ in range(3)]
    outer, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    (out, out_in), (err, err_in), (records, records_in) = pipes
    return Ends(out, err, records, outer), Ends(out_in, err_in, records_in, inner)


class Watcher:
    """Reads a run's streams and holds it to its limits until it ends."""

    def __init__(self, run: ForkedRun, limits: Limits, control: int) -> None:
        self._run = run
        self._limits = limits
        self._control = control
        flood = 16 * limits.output_bytes
        self._streams = {
            run.ends.stdout: Stream("output", keep=limits.output_bytes, allow=flood),
            run.ends.stderr: Stream("output", keep=limits.output_bytes, allow=flood),
            run.ends.records: Stream(
                "records", keep=limits.record_bytes, allow=limits.record_bytes, tail=False
            ),
        }
        self._outcome = ProcessOutcome("unavailable", reason="the run's first process was killed")
        self._killed = False
        self._began: float | None = None
        self._deadline = time.monotonic() + _WALLS_BUDGET_S
        self._proc: int | None = None
        self._script: int | None = None
        self._count = Rested(self._look_at_counts)
        self._weigh = Rested(self._look_at_memory)
        self._scratch: list[int] = []
        self._poll = select.poll()

    def until_end(self) -> ProcessOutcome:
        """Wait for the run; nothing of it is left when this returns."""
        for handle in (self._run.process, self._run.ends.reports.fileno(), self._control):
            self._poll.register(handle, select.POLLIN)
        for handle in self._streams:
            os.set_blocking(handle, False)
            self._poll.register(handle, select.POLLIN)
        while not self._step():
            self._check()
        os.waitpid(self._run.pid, 0)
        outcome = self._concluded()
        self._let_go()
        return outcome

    def _step(self) -> bool:
        """Handle the events of one tick. Return True once the run has ended."""
        ended = False
        for handle, _ in self._poll.poll(TICK_S * 1000):
            if handle == self._run.process:
                ended = True
            elif handle == self._control:
                self._end("cancelled", None)
                self._poll.unregister(handle)
            elif handle == self._run.ends.reports.fileno():
                self._hear()
            else:
                self._read(handle)
        return ended

    def _read(self, handle: int) -> None:
        stream = self._streams[handle]
        if not stream.take(handle):
            self._poll.unregister(handle)
        if stream.exceeded:
            self._end("limit_hit", stream.limit)
            self._poll.unregister(handle)

    def _hear(self) -> None:
        reports = self._run.ends.reports
        text, handles, _, _ = socket.recv_fds(reports, _MESSAGE_BYTES, _MAX_HANDLES)
        if not text:
            self._poll.unregister(reports.fileno())
            return
        said = json.loads(text)
        if "refused" in said:
            self._outcome.wall, self._outcome.reason = said["refused"]
        elif "places" in said:
            self._proc, *self._scratch = handles
        elif "walls" in said:
            self._began = time.monotonic()
            self._deadline = self._began + self._limits.time_s
            self._outcome.walls, self._outcome.raising_s = said["walls"], said["raising_s"]
            self._script = said["script"]
        elif not self._killed and self._began is not None:
            self._outcome.ending, self._outcome.reason = "exited", None
            self._outcome.exit_code = said["exit"]
            if self._outcome.exit_code == -signal.SIGXCPU:
                self._outcome.ending, self._outcome.limit = "limit_hit", "cpu"

    def _check(self) -> None:
        """Compare what the run uses with its limits."""
        if time.monotonic() > self._deadline + self._waited():
            self._end("timed_out" if self._began else "unavailable", None)
        for look in (self._count, self._weigh):
            if self._proc is not None and self._began is not None and not self._killed:
                look(self._proc)

    def _waited(self) -> float:
        """Return the seconds that the script waited for a processor, at most its time limit. So a
        busy machine takes nothing off its time, and a script cannot stay for long by making itself
        wait.
        """
        if self._proc is not None and self._script is not None and not self._killed:
            waited = min(memory.waited(self._proc, self._script), self._limits.time_s)
            self._outcome.waited_s = max(self._outcome.waited_s, round(waited, 4))
        return self._outcome.waited_s

    def _look_at_counts(self, proc: int) -> None:
        """Check what is cheap to count and grows quickly."""
        running = memory.processes(proc, self._run.ours)
        tasks = memory.tasks(proc, running)
        self._outcome.near_task_limit |= 2 * tasks >= self._limits.tasks
        if tasks >= self._limits.tasks:
            self._end("limit_hit", "processes")
        elif memory.sockets(proc) > self._limits.sockets:
            self._end("limit_hit", "sockets")

    def _look_at_memory(self, proc: int) -> None:
        """Check what is expensive to measure if there are many processes."""
        running = memory.processes(proc, self._run.ours)
        allowed = self._limits.memory_mib * MIB
        count = partial(self._count, proc)
        used = memory.used(proc, running, self._scratch, allowed, meanwhile=count)
        peak = min(used, allowed) / MIB
        self._outcome.peak_memory_mib = max(self._outcome.peak_memory_mib, round(peak, 1))
        if used > allowed:
            self._end("limit_hit", "memory")
        elif memory.full(self._scratch, self._limits.inodes):
            self._end("limit_hit", "disk")

    def _end(self, ending: str, limit: str | None) -> None:
        """Kill the run, and remember why."""
        if self._killed:
            return
        self._killed = True
        if self._outcome.ending == "exited":
            return
        self._outcome.ending, self._outcome.limit = ending, limit  # type: ignore[assignment]
        self._outcome.reason = None
        if ending == "unavailable":
            self._outcome.reason = "the walls did not rise in time"
        self._run.kill()

    def _concluded(self) -> ProcessOutcome:
        self._run.kill()
        self._drain_reports()
        for handle, stream in self._streams.items():
            while not stream.exceeded and stream.take(handle):
                pass
            if stream.exceeded and not self._killed:
                self._outcome.ending, self._outcome.limit = "limit_hit", stream.limit
        if self._began is not None:
            self._outcome.duration_s = round(time.monotonic() - self._began, 4)
        out, err, records = self._streams.values()
        self._outcome.stdout, self._outcome.stderr = bytes(out.kept), bytes(err.kept)
        self._outcome.records = bytes(records.kept)
        return self._outcome

    def _drain_reports(self) -> None:
        """Read the exit report, which may still be in transit when the process handle reports the
        end.
        """
        waiting = select.poll()
        waiting.register(self._run.ends.reports.fileno(), select.POLLIN)
        while any(event & select.POLLIN for _, event in waiting.poll(0)):
            if not self._peek():
                return
            self._hear()

    def _let_go(self) -> None:
        """Close all that this watch was handed: the process may watch further runs."""
        self._run.ends.close()
        for handle in (self._run.process, self._proc, *self._scratch):
            if handle is not None:
                os.close(handle)

    def _peek(self) -> bool:
        return bool(self._run.ends.reports.recv(1, socket.MSG_PEEK))
