"""The application within the test's own process, with a stub in place of the diagnosis: for tests
of access, not of findings."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from socket import create_server
from typing import Any

import httpx
import uvicorn

from app.diagnose import Progress
from app.jobs import Diagnose
from app.main import create_app
from app.schemas import DiagnosisRequest, Findings
from app.settings import Settings
from app.store import Database


async def echo(request: DiagnosisRequest, progress: Progress) -> Findings:
    """Finds nothing, and says what it was given."""
    await progress.stage("reading", 0, 1, "Reading the script")
    return Findings(verdict="healthy", summary=f"{request.filename}: {request.script}")


_migrated: list[bytes] = []


async def _put_database(settings: Settings) -> None:
    """Put an empty database where the service will have its own: migrating takes longer than most
    tests."""
    if settings.database_url:
        return
    if not _migrated:
        with tempfile.TemporaryDirectory() as folder:
            new = settings.model_copy(update={"var_dir": Path(folder)})
            database = Database(new.store_url)
            await database.open()
            await database.close()
            _migrated.append(_file(new).read_bytes())
    _write_new(_file(settings), _migrated[0])


def _file(settings: Settings) -> Path:
    return Path(settings.store_url.partition(":///")[2])


def _write_new(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_bytes(content)


@contextlib.asynccontextmanager
async def serving(
    directory: Path,
    diagnose: Diagnose | None = echo,
    client: tuple[str, int] = ("127.0.0.1", 5000),
    **settings: Any,
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a running application; `settings` are those of the service. `diagnose=None`: what
    diagnoses is the real thing, too."""
    chosen = {"var_dir": directory, "sandbox": "none", "shutdown_grace_s": 0, **settings}
    await _put_database(Settings(**chosen))
    app = create_app(Settings(**chosen), diagnose)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=client)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
            yield http


@contextlib.asynccontextmanager
async def listening(
    directory: Path, diagnose: Diagnose | None = echo, **settings: Any
) -> AsyncIterator[str]:
    """The same on a port of this machine, for clients that are processes; its address."""
    chosen = {"var_dir": directory, "sandbox": "none", "shutdown_grace_s": 0, **settings}
    await _put_database(Settings(**chosen))
    app = create_app(Settings(**chosen), diagnose)
    socket = create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
    serves = asyncio.create_task(server.serve([socket]))
    try:
        yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    finally:
        app.state.service.close_waiting()
        server.should_exit = True
        await serves
