"""Headers that every answer carries, unless its route has set its own."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
ALWAYS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # a diagnosis's address is its secret
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
PRIVATE = ("/v1/diagnoses", "/d/")
YEAR_S = 31_536_000


class SecurityHeaders:
    """Adds the headers; `secure` also promises HTTPS for a year."""

    def __init__(self, app: ASGIApp, *, secure: bool = False) -> None:
        self._app = app
        self._secure = secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._add(MutableHeaders(scope=message), scope["path"])
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _add(self, headers: MutableHeaders, path: str) -> None:
        for name, value in ALWAYS.items():
            headers.setdefault(name, value)
        if self._secure:
            headers.setdefault("Strict-Transport-Security", f"max-age={YEAR_S}")
        if path.startswith(PRIVATE):
            headers.setdefault("Cache-Control", "no-store")
            headers.setdefault("X-Robots-Tag", "noindex")
