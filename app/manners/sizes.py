"""Bodies that are too large are refused before anybody parses them."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.manners.metrics import Metrics
from app.problems import ProblemError


class BodyLimit:
    """Answers 413 from the announced length, or as soon as the bytes that came exceed it."""

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
