"""HEAD is answered wherever GET is: the same status and headers, and no body."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Heads:
    """Asks the application with GET and sends the head of its answer alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def only_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                # Ended here and not with the body: a stream of events may have no end.
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        inner = {**scope, "method": "GET"}
        try:
            await self._app(inner, receive, only_head)
        finally:
            scope["route"] = inner.get("route")  # for the log
