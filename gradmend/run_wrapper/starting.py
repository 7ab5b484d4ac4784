"""How a repeated run of the user's command starts: fresh, or forked from a warm interpreter.

The warm one is the command itself, started once more and paused before its program, with torch
imported. A run forked there goes on as a fresh start would, without the seconds before.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from gradmend.run_wrapper import landlocked
from gradmend.run_wrapper.cli_args import RunArguments
from gradmend.run_wrapper.exchange_dir import ExchangeDir, Process

MOST_BYTES = 1 << 16
START_S, ANSWER_S, POLL_S = 120.0, 10.0, 0.02
AT_ONCE, SHARE = 2, 0.5  # repeated runs, and the part of the free memory that they may fill
BROKEN = -signal.SIGKILL  # the end of a run whose parent is gone, too


def furnish(box: ExchangeDir, options: dict[str, Any], *, eager: bool = False) -> None:
    """Prepare a box for a repeated run with these instructions; `eager`: nothing is compiled."""
    for folder in ("files", "tmp"):
        (box.path / folder).mkdir()
    options |= {"scratch": str(box.path / "files"), "kept": [str(box.path), *landlocked.kept()]}
    (box.path / "job.json").write_text(json.dumps(options))
    environment = box.environment() | {"TMPDIR": str(box.path / "tmp"), "WANDB_MODE": "disabled"}
    environment |= {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"TORCH_COMPILE_DISABLE": "1", "TORCHDYNAMO_DISABLE": "1"} if eager else {}
    (box.path / "environment.json").write_text(json.dumps(environment))


class Running(Protocol):
    """A run that has started; it leads a session of its own."""

    @property
    def pid(self) -> int: ...

    async def wait(self) -> int: ...


class StartedProcess:
    """A run that was started fresh."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.pid = process.pid

    async def wait(self) -> int:
        """Return its exit code, once it has ended; negative for a signal."""
        while (code := self._process.poll()) is None:  # noqa: ASYNC110 - an end is no event
            await asyncio.sleep(POLL_S)
        return code


def start_fresh(box: Path, command: Sequence[str], *descriptors: int) -> StartedProcess:
    """Start the command under Landlock, in the environment that its box holds."""
    with (box / "out").open("wb") as out, (box / "err").open("wb") as err:
        process = subprocess.Popen(
            [
                *(sys.executable, "-P", "-m", "gradmend.run_wrapper.landlocked", str(box)),
                *command,
            ],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            pass_fds=descriptors,
            env={**os.environ, "PYTHONPATH": str(Path(landlocked.__file__).parents[2])},
        )
    return StartedProcess(process)


def why_no_rerun(arguments: RunArguments) -> str | None:
    """Return why nothing is run again, or None."""
    if arguments.rerun is False:
        return "it was not to be run again"
    if arguments.rerun is None and not landlocked.available():
        return (
            "this kernel has no Landlock, so files that C code writes could not be kept apart: "
            "nothing was run again; `gradmend run --rerun -- …` does"
        )
    return None


def can_be_warm(first: Process) -> bool:
    """Return True if a fork does what the process that failed did.

    Gradmend started it directly, and it used no device that a fork cannot.
    """
    return sys.platform == "linux" and _is_alone(first)


def runs_at_once(first: Process) -> int:
    """Return how many repeated runs the machine has room for: one if the command starts processes
    of its own, uses a device, or needs more than its share of the memory that is free.
    """
    if not _is_alone(first) or len(os.sched_getaffinity(0)) < AT_ONCE:
        return 1
    return AT_ONCE if AT_ONCE * first.peak_kib < SHARE * _available_kib() else 1


def _is_alone(first: Process) -> bool:
    """Return True if Gradmend started the process itself, and it used no device."""
    return first.parent == os.getpid() and not first.cuda


def _available_kib() -> int:
    """Return the memory that is free, in KiB; 0 if the system does not say."""
    with suppress(OSError, ValueError), open("/proc/meminfo") as file:
        fields = dict(line.split(":", 1) for line in file)
        return int(fields["MemAvailable"].split()[0])
    return 0


class Turns:
    """Lets so many runs go on at once. `most` may be lowered while they do."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._going = 0
        self._changed = asyncio.Condition()

    async def __aenter__(self) -> bool:
        """Wait for a turn; whether others may go on meanwhile."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._going < self.most)
            self._going += 1
        return self.most > 1

    async def __aexit__(self, *_: object) -> None:
        self._going -= 1
        async with self._changed:
            self._changed.notify_all()


class Warm:
    """The warm interpreter, and the runs that are forked from it."""

    def __init__(self, home: ExchangeDir, command: Sequence[str], first: Process) -> None:
        """Start it; `home` is to hold the boxes of its runs."""
        self.home = home
        self.took_s = 0.0
        self._began = time.monotonic()
        self._runs: dict[str, Forked] = {}
        self._hearing: asyncio.Task[None] | None = None
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel.setblocking(False)
        with theirs:
            own = sorted(first.files.values())
            options: dict[str, Any] = {"warm": theirs.fileno(), "words": first.words, "own": own}
            options |= {"load": first.torch, "settings": first.settings, "mode": "plain"}
            furnish(home, options, eager=first.is_compiled)
            self._process = start_fresh(home.path, command, theirs.fileno())

    @classmethod
    def early(cls, arguments: RunArguments, box: ExchangeDir, first: Process) -> Warm | None:
        """Start it while what explains a failure is still being imported; None if it is not to be,
        or cannot be."""
        with suppress(OSError):
            if can_be_warm(first) and why_no_rerun(arguments) is None:
                return cls(ExchangeDir({}, box.path), arguments.command, first)
        return None

    async def ready(self) -> Warm | None:
        """Return it once it waits before its program; None if it cannot."""
        try:
            answer = await self._answer(START_S)
        except BaseException:
            await self.close()
            raise
        if "ready" in answer:
            self.took_s = time.monotonic() - self._began
            self._hearing = asyncio.create_task(self._hear())
            return self
        await self.close()
        return None

    async def run(self, box: Path) -> Forked | None:
        """Return a run that has just been forked; None if none can be."""
        if self._hearing is None or self._hearing.done():
            return None
        run = self._runs[str(box)] = Forked()
        with suppress(OSError):
            self._channel.send(json.dumps({"box": str(box)}).encode())
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(run.begun), ANSWER_S)
        return run if run.pid else None

    async def close(self) -> None:
        """End it, and what it has forked."""
        for run in self._runs.values():
            if run.pid and not run.ended.done():
                await end(run)
        if self._hearing is not None:
            self._hearing.cancel()
        self._channel.close()
        await end(self._process)

    async def _hear(self) -> None:
        """Hand each message to its run, for as long as the interpreter lives."""
        while answer := await self._answer(None):
            self._runs[answer["box"]].hear(answer)
        for run in self._runs.values():
            run.hear({"ended": BROKEN})

    async def _answer(self, patience: float | None) -> dict[str, Any]:
        """Return what it says next; nothing if it has ended or is silent."""
        loop = asyncio.get_running_loop()
        with suppress(TimeoutError, OSError, ValueError):
            async with asyncio.timeout(patience):
                options: dict[str, Any] = json.loads(
                    await loop.sock_recv(self._channel, MOST_BYTES)
                )
                return options
        return {}


class Forked:
    """One run of a warm interpreter's. `begun` and `ended`: its process, and its exit code."""

    def __init__(self) -> None:
        self.begun: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    @property
    def pid(self) -> int:
        """Return the process id; 0 if it has not begun."""
        return self.begun.result() if self.begun.done() else 0

    def hear(self, answer: Mapping[str, Any]) -> None:
        """Take in what the interpreter says of it."""
        if not self.begun.done():
            self.begun.set_result(answer.get("pid", 0))
        if "ended" in answer and not self.ended.done():
            self.ended.set_result(answer["ended"])

    async def wait(self) -> int:
        """Return its exit code, once it has ended; negative for a signal."""
        return await asyncio.shield(self.ended)


async def end(run: Running) -> None:
    """End a run with the whole of its session: politely, then for good."""
    for number, patience in ((signal.SIGTERM, 2.0), (signal.SIGKILL, 2.0)):
        with suppress(ProcessLookupError):
            os.killpg(run.pid, number)
        with suppress(TimeoutError):
            await asyncio.wait_for(run.wait(), patience)
    with suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)
