"""What another site's page has a browser send is refused where it would change something."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.metrics import Metrics
from app.http.problems import ProblemError
from app.settings import Settings, listed

CHANGING = ("POST", "DELETE", "PUT", "PATCH")
OWN = ("same-origin", "none")


class Origins:
    """Answers 403 to requests that a browser made for a site which is neither this one nor one of
    `cors_origins`. Clients that are no browsers say nothing about a site, and are let through."""

    def __init__(self, app: ASGIApp, *, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._allowed = {*listed(settings.cors_origins), settings.public_url}
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        changing = scope["type"] == "http" and scope["method"] in CHANGING
        if changing and self._foreign(HTTPConnection(scope)):
            self._metrics.refused("origin")
            refusal = ProblemError(
                403,
                "foreign-origin",
                "Another site's page asked for this. Send it from this site, from a program, or "
                "from an origin that the service allows.",
            )
            await refusal.response()(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _foreign(self, connection: HTTPConnection) -> bool:
        site = connection.headers.get("sec-fetch-site")
        if site in OWN:
            return False
        origin = connection.headers.get("origin")
        if origin is None:
            return site is not None
        here = urlsplit(origin).netloc == connection.headers.get("host", "")
        return origin not in self._allowed and not (here and site is None)
