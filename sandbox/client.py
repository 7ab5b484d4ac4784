"""Request runs from a launcher: one at a socket, or an embedded one."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import sandbox
from sandbox.protocol import Job, Readiness, RunResult, Session
from sandbox.wire import WireError, hand_over, pack_json, read_json

_ENDING_S = 10.0
_PAUSES_S = (0.0, 0.0, 0.5, 2.0)  # before each try of a run
_READINESS = {"ask": "readiness"}
_SESSION = {"ask": "session"}

_Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _ask(connection: _Connection, what: Any) -> Any:
    """Send one request and return its answer. Closing the connection early, as cancelling does,
    ends the run.
    """
    try:
        return await _answer(connection, what)
    finally:
        connection[1].close()


async def _answer(connection: _Connection, what: Any) -> Any:
    """Return the answer to a request, on a connection that stays open. Raises `WireError`."""
    reader, writer = connection
    try:
        writer.write(pack_json(what))
        await writer.drain()
        answer = await read_json(reader)
    except ConnectionError as error:
        raise WireError("the launcher went away") from error
    if "error" in answer:
        raise WireError(answer["error"])
    return answer


class _Connects(Protocol):
    async def connect(self) -> _Connection: ...


class _Client:
    """The common part of both clients, which differ in how they reach a launcher."""

    async def run(self: _Connects, job: Job) -> RunResult:
        """Run one job. One that a dying launcher took with it is tried again, a few times."""
        return await _run(self, job, None)

    @contextlib.asynccontextmanager
    async def session(self: _Connects) -> AsyncIterator[Session]:
        """Yield a session for the runs of one request. The launcher is not contacted before the
        first run.
        """
        held = _HeldSession(self)
        try:
            yield held
        finally:
            held.let_go()

    async def readiness(self: _Connects) -> Readiness:
        """Return which walls are up, as a real process inside sees them. Never raises."""
        try:
            return Readiness.model_validate(await _ask(await self.connect(), _READINESS))
        except (WireError, OSError) as error:
            reason = f"the sandbox launcher cannot be reached: {error}"
            return Readiness(ready=False, backend="", reason=reason)

    async def close(self) -> None:
        """Release the launcher."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


async def _run(client: _Connects, job: Job, session: str | None) -> RunResult:
    request = {"ask": "run", "job": job.model_dump(), "session": session}
    reason = ""
    for pause in _PAUSES_S:
        await asyncio.sleep(pause)
        try:
            answer = await _ask(await client.connect(), request)
            return await asyncio.to_thread(RunResult.model_validate, answer)
        except (WireError, OSError) as error:
            reason = f"the sandbox launcher cannot be reached: {error}"
    return RunResult(status="unavailable", reason=reason)


class _HeldSession:
    """A session with a launcher, which lasts as long as a connection stays open.

    If the launcher dies, a new session is requested. If none is available, runs are made without
    one.
    """

    def __init__(self, client: _Connects) -> None:
        self._client = client
        self._name: str | None = None
        self._connection: _Connection | None = None
        self._opening = asyncio.Lock()

    async def run(self, job: Job) -> RunResult:
        """Run one job; waits for a session first, where as many are held as may be."""
        async with self._opening:
            if self._connection is None or self._connection[0].at_eof():
                await self._open()
        return await _run(self._client, job, self._name)

    async def _open(self) -> None:
        self.let_go()
        try:
            self._connection = await self._client.connect()
            self._name = (await _answer(self._connection, _SESSION))["session"]
        except BaseException as error:
            self.let_go()
            if not isinstance(error, WireError | OSError):
                raise

    def let_go(self) -> None:
        """End the session, if there is one."""
        if self._connection is not None:
            self._connection[1].close()
        self._name = self._connection = None


class LauncherClient(_Client):
    """Runs jobs through the launcher that serves the UNIX socket at `path`."""

    def __init__(self, path: Path | str) -> None:
        self._path = str(path)

    async def connect(self) -> _Connection:
        """Return a new connection to the launcher. Raises `OSError`."""
        return await asyncio.open_unix_connection(self._path)


class EmbeddedSandbox(_Client):
    """Run jobs through an embedded launcher: a child process, started when first needed.

    A launcher that died is replaced at the next request. `options` are further arguments of the
    launcher's command line, such as `["--allow-missing", "landlock"]`; `program` are its first
    arguments, if another program starts it; `python` is the interpreter of runs.
    """

    def __init__(
        self,
        backend: str = "jail",
        options: list[str] | None = None,
        program: list[str] | None = None,
        python: Path | str = sys.executable,
    ) -> None:
        self._program = program or [str(python), "-P", "-m", "sandbox.launcher"]
        self._options = ["--backend", backend, *(options or [])]
        self._process: asyncio.subprocess.Process | None = None
        self._channel: socket.socket | None = None
        self._starting = asyncio.Lock()

    @property
    def launcher_pid(self) -> int | None:
        """Return the launcher's pid while it runs, else None."""
        running = self._process is not None and self._process.returncode is None
        return self._process.pid if self._process and running else None

    async def connect(self) -> _Connection:
        """Return a new connection to the launcher. Raises `OSError`."""
        ours, theirs = socket.socketpair()
        async with self._starting:
            try:
                if self.launcher_pid is None:
                    await self._start()
                self._hand_over(theirs)
            except OSError:
                # It died a moment ago, and only the channel knows yet.
                await self._end()
                await self._start()
                self._hand_over(theirs)
        return await asyncio.open_connection(sock=ours)

    async def start(self) -> None:
        """Start the launcher, which gets ready for the first run before it is asked for one.

        Raises `OSError`.
        """
        async with self._starting:
            if self.launcher_pid is None:
                await self._start("--warm")

    def _hand_over(self, end: socket.socket) -> None:
        assert self._channel is not None
        hand_over(self._channel, end)

    async def _start(self, *more: str) -> None:
        await self._end()
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        source = str(Path(sandbox.__file__).parents[1])
        self._process = await asyncio.create_subprocess_exec(
            *self._program,
            *("--channel", str(theirs.fileno()), "--parent", str(os.getpid())),
            *self._options,
            *more,
            stdin=asyncio.subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # Ctrl-C is for whoever asks, and closes the channel
            env={**os.environ, "PYTHONPATH": source},
        )
        theirs.close()

    async def close(self) -> None:
        """End the launcher and every run it has in hand."""
        async with self._starting:
            await self._end()

    async def _end(self) -> None:
        """Close the channel, which asks the launcher to end; kill it if it does not."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._process is None:
            return
        try:
            await asyncio.wait_for(self._process.wait(), _ENDING_S)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        self._process = None
