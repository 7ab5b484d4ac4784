"""Bodies that are too large are refused before anybody parses them."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.metrics import Metrics
from app.http.problems import ProblemError

# Most clients read the answer only when they have sent their body: so much is read and dropped.
DROPPED_BYTES = 64 * 2**20
DROPPED_SECONDS = 10.0


class BodyLimit:
    """Answers 413 from the announced length, or as soon as the bytes that came exceed it. What is
    too large is never kept; one that announced a length within reason is let in to its end, so
    that its sender gets to see the answer instead of a broken connection."""

    def __init__(self, app: ASGIApp, *, limit: int, metrics: Metrics) -> None:
        self._app = app
        self._limit = limit
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdecimal() and int(announced) > self._limit:
            if int(announced) <= DROPPED_BYTES:
                await _drop(receive)
            await self._too_large().response()(scope, receive, send)
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._limit:
                raise self._too_large()
            return message

        await self._app(scope, counted, send)

    def _too_large(self) -> ProblemError:
        self._metrics.refused("size")
        return ProblemError(
            413,
            "too-large",
            f"The body is larger than {self._limit} bytes. Send the failing script and the modules "
            "it imports; leave data out.",
            headers={"Connection": "close"},
        )


async def _drop(receive: Receive) -> None:
    """Read the rest of a body and keep nothing of it."""
    dropped = 0
    try:
        async with asyncio.timeout(DROPPED_SECONDS):
            while dropped < DROPPED_BYTES:
                message = await receive()
                dropped += len(message.get("body", b""))
                if message["type"] != "http.request" or not message.get("more_body", False):
                    return
    except TimeoutError:
        return
