"""One log line and one measurement for each answer."""

from __future__ import annotations

import time

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.metrics import Metrics

METHODS = {"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"}
QUIET = {"/healthz", "/readyz", "/metrics"}

log = structlog.get_logger()


class Access:
    """Logs and measures by the route's template, so that no id and no script gets in."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500
        began = time.perf_counter()

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            self._note(scope, status, time.perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unknown")
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._metrics.requested(method, route, status, seconds)
        if route not in QUIET:
            log.info("request", method=method, route=route, status=status, ms=round(seconds * 1e3))
