"""The web application, put together from its settings."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from asgi_correlation_id import CorrelationIdMiddleware
from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from app import api, pages
from app.agents import lazy_mcp as agents
from app.api import document
from app.http import handlers
from app.http.access import Access
from app.http.clients import Keys, RateLimit
from app.http.headers import SecurityHeaders
from app.http.heads import Heads
from app.http.origins import Origins
from app.http.sizes import BodyLimit
from app.http.telemetry import instrument
from app.jobs import Diagnose
from app.pages import reference
from app.pages.examples import examples
from app.pages.prepared import prepare_examples
from app.service import TOKEN_HEADER, Service
from app.settings import Settings, listed
from app.version import package_version

COMPRESSED_FROM = 1024  # bytes; event streams are never held back to be compressed
DESCRIPTION = """Diagnoses autograd errors in PyTorch training scripts: the tensor that kept
the old graph, the line to change, and a patch that has been run."""


def create_app(settings: Settings | None = None, diagnose_with: Diagnose | None = None) -> FastAPI:
    """Return the application; its service starts and stops with it.

    `diagnose_with` replaces the function that works on a diagnosis.
    """
    service = Service(settings or Settings(), diagnose_with)
    examples()  # parsed before there are threads: two that parse at once fail in Python 3.11

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        try:
            async with _background(service):
                yield
        finally:
            await door.close()
            await service.stop()

    app = FastAPI(
        title="Gradmend",
        version=package_version(),
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    door = agents.mount(app, service)
    app.state.service = service
    app.state.desk = service
    handlers.install(app, pages.problem_page, postgres=service.database.postgres)
    document.install(app)
    for router in (api.router, pages.router, reference.router):
        app.include_router(router)
    _add_manners(app, service)
    instrument(app)
    return app


@contextlib.asynccontextmanager
async def _background(service: Service) -> AsyncIterator[None]:
    """Run what a web process does besides its requests."""
    prepares = service.settings.prepare_examples and service.settings.reuse_results
    tasks = [asyncio.create_task(prepare_examples(service))] if prepares else []
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _add_manners(app: FastAPI, service: Service) -> None:
    """Add middleware, innermost first: a request reaches the last one added first."""
    settings, metrics = service.settings, service.metrics
    app.add_middleware(GZipMiddleware, minimum_size=COMPRESSED_FROM)
    app.add_middleware(Heads)
    app.add_middleware(BodyLimit, limit=settings.max_body_bytes, metrics=metrics)
    app.add_middleware(RateLimit, settings=settings, metrics=metrics)
    app.add_middleware(Keys, settings=settings, metrics=metrics)
    app.add_middleware(Origins, settings=settings, metrics=metrics)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=listed(settings.cors_origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=[
                "Authorization",
                "Content-Type",
                "Idempotency-Key",
                "X-API-Key",
                TOKEN_HEADER,
            ],
            expose_headers=["Location", "Retry-After", TOKEN_HEADER],
        )
    app.add_middleware(SecurityHeaders, secure=settings.public_url.startswith("https:"))
    if settings.allowed_hosts:
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=listed(settings.allowed_hosts))
    app.add_middleware(Access, metrics=metrics)
    app.add_middleware(CorrelationIdMiddleware)
