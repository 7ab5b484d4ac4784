"""`/mcp`: the tools over HTTP, opened when the first agent calls.

The protocol's package takes a fifth of the web process's memory; a service that no agent asks goes
without it.
"""

from __future__ import annotations

import asyncio
import importlib

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from app.service import Service

PATH = "/mcp"


class Door:
    """An ASGI application that opens at the first call, and stays open until it is closed."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._inner: asyncio.Future[ASGIApp] | None = None
        self._task: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._inner is None:
            self._inner = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._stay_open(self._inner))
        inner = await asyncio.shield(self._inner)
        await inner(scope, receive, send)

    async def _stay_open(self, inner: asyncio.Future[ASGIApp]) -> None:
        """Hold the server open in a task of its own: the SDK must be closed by the task that opened
        it."""
        try:
            mounted = await asyncio.to_thread(importlib.import_module, "app.agents.mounted")
            async with mounted.answering(self._service) as answers:
                inner.set_result(answers)
                await self._over.wait()
        except BaseException as error:
            if inner.done():
                raise
            self._inner = None  # the next call tries again
            inner.set_exception(error)

    async def close(self) -> None:
        """End what was opened."""
        self._over.set()
        if self._task is not None:
            await self._task


def mount(app: FastAPI, service: Service) -> Door:
    """Serve the tools at `/mcp`, after all middleware that guards the API."""
    door = Door(service)
    app.router.routes.append(Route(PATH, endpoint=door))
    return door
