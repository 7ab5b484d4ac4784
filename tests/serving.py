"""The application within the test's own process, with a stand-in for the heart: for tests of how
it is reached, not of what it finds."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx

from app.diagnose import Progress
from app.jobs import Diagnose
from app.main import create_app
from app.schemas import DiagnosisRequest, Findings
from app.settings import Settings


async def echo(request: DiagnosisRequest, progress: Progress) -> Findings:
    """Finds nothing, and says what it was given."""
    await progress.stage("reading", 0, 1, "Reading the script")
    return Findings(verdict="healthy", summary=f"{request.filename}: {request.script}")


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
    app = create_app(Settings(**chosen), diagnose)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=client)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
            yield http
