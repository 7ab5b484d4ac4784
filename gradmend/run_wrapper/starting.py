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
import sys
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from gradmend.run_wrapper import landlocked
from gradmend.run_wrapper.exchange_dir import ExchangeDir, Process

MOST_BYTES = 1 << 16
START_S, ANSWER_S = 120.0, 10.0
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


async def start_fresh(
    box: Path, command: Sequence[str], *descriptors: int
) -> asyncio.subprocess.Process:
    """Start the command under Landlock, in the environment that its box holds."""
    with (box / "out").open("wb") as out, (box / "err").open("wb") as err:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "gradmend.run_wrapper.landlocked", str(box)),
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            pass_fds=descriptors,
            env={**os.environ, "PYTHONPATH": str(Path(landlocked.__file__).parents[2])},
        )


def can_be_warm(first: Process) -> bool:
    """Return True if a fork does what the process that failed did.

    Gradmend started it directly, it used no device that a fork cannot, and it changed no setting
    that torch reads at import.
    """
    direct = first.parent == os.getpid()
    return sys.platform == "linux" and direct and first.as_begun and not first.cuda


class Warm:
    """The warm interpreter, and its runs: one at a time."""

    def __init__(self, process: asyncio.subprocess.Process, channel: socket.socket) -> None:
        self._process = process
        self._channel = channel
        self._run: Forked | None = None
        self.took_s = 0.0

    @classmethod
    async def begun(
        cls, home: ExchangeDir, command: Sequence[str], first: Process, *, eager: bool = False
    ) -> Warm | None:
        """Return the command, waiting before its program; None if it cannot."""
        began = time.monotonic()
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            own = sorted(first.files.values())
            options = {"warm": theirs.fileno(), "words": first.words, "own": own}
            furnish(home, {**options, "load": first.torch, "mode": "plain"}, eager=eager)
            mine.setblocking(False)
            warm = cls(await start_fresh(home.path, command, theirs.fileno()), mine)
        try:
            answer = await warm._answer(START_S)
        except BaseException:
            await warm.close()
            raise
        if "ready" in answer:
            warm.took_s = time.monotonic() - began
            return warm
        await warm.close()
        return None

    async def run(self, box: Path) -> Forked | None:
        """Return a run that has just been forked; None if none can be."""
        with suppress(OSError):
            self._channel.send(json.dumps({"box": str(box)}).encode())
        answer = await self._answer(ANSWER_S)
        self._run = Forked(answer["pid"], self._ended()) if "pid" in answer else None
        return self._run

    async def close(self) -> None:
        """End it, and what it has forked."""
        if self._run is not None:
            await end(self._run)
            self._run.forget()
        self._channel.close()
        await end(self._process)

    async def _ended(self) -> int:
        return int((await self._answer(None)).get("ended", BROKEN))

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
    """One run of a warm interpreter's."""

    def __init__(self, pid: int, ended: Coroutine[Any, Any, int]) -> None:
        self.pid = pid
        self._ended = asyncio.ensure_future(ended)

    async def wait(self) -> int:
        """Return its exit code, once it has ended; negative for a signal."""
        return await asyncio.shield(self._ended)

    def forget(self) -> None:
        """Close the connection: nobody needs its answers any more."""
        self._ended.cancel()


async def end(run: Running) -> None:
    """End a run with the whole of its session: politely, then for good."""
    for number, patience in ((signal.SIGTERM, 2.0), (signal.SIGKILL, 2.0)):
        with suppress(ProcessLookupError):
            os.killpg(run.pid, number)
        with suppress(TimeoutError):
            await asyncio.wait_for(run.wait(), patience)
    with suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)
