"""Who may ask, and how often."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import ipaddress
import math
import time

from limits import RateLimitItem, parse
from limits.aio.strategies import MovingWindowRateLimiter
from limits.storage import storage_from_string
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.metrics import Metrics
from app.http.problems import ProblemError
from app.settings import Settings, listed

CREATING = ("/", "/verify", "/v1/diagnoses", "/v1/verifications", "/mcp")


def key_of(connection: HTTPConnection) -> str:
    """Return the key that a client shows: `Authorization: Bearer`, `X-API-Key`, or Basic's
    password."""
    scheme, _, value = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() == "basic":  # what a browser asks its user for
        try:
            return base64.b64decode(value, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return connection.headers.get("x-api-key", "")


def client_of(connection: HTTPConnection) -> str:
    """Return what identifies a client: its address (a /64 for IPv6, where one client has them
    all)."""
    host = connection.client.host if connection.client else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.version == 6:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return host


def sender_of(connection: HTTPConnection) -> str:
    """Return a digest of the sender: of the API key shown, else of the client's address."""
    return hashlib.sha256(f"{key_of(connection) or client_of(connection)}".encode()).hexdigest()


def is_loopback(host: str) -> bool:
    """Return True if the client is this machine (or a UNIX socket)."""
    try:
        return ipaddress.ip_network(host).is_loopback
    except ValueError:
        return not host


class Keys:
    """Asks for an API key where something is created or deleted; off without keys."""

    def __init__(self, app: ASGIApp, *, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._keys = [key.encode() for key in listed(settings.api_keys)]
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._keys and scope["type"] == "http" and scope["method"] in ("POST", "DELETE"):
            shown = key_of(HTTPConnection(scope)).encode()
            if not any(hmac.compare_digest(shown, key) for key in self._keys):
                self._metrics.refused("key")
                refusal = ProblemError(
                    401,
                    "key-required",
                    "Send an API key: `Authorization: Bearer KEY` or `X-API-Key: KEY`.",
                    headers={"WWW-Authenticate": 'Bearer, Basic realm="gradmend"'},
                )
                await refusal.response()(scope, receive, send)
                return
        await self._app(scope, receive, send)


class RateLimit:
    """Counts the diagnoses that a client asks for within a moving window."""

    def __init__(self, app: ASGIApp, *, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics
        self._limit: RateLimitItem | None = (
            parse(settings.rate_limit) if settings.rate_limit else None
        )
        self._window = MovingWindowRateLimiter(storage_from_string(settings.rate_limit_storage))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"] in CREATING:
            refusal = await self._check(Request(scope))
            if refusal is not None:
                await refusal.response()(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _check(self, request: Request) -> ProblemError | None:
        client = client_of(request)
        exempt = is_loopback(client) and not self._settings.rate_limit_loopback
        if self._limit is None or exempt or await self._window.hit(self._limit, client):
            return None
        self._metrics.refused("rate")
        window = await self._window.get_window_stats(self._limit, client)
        wait = max(1, math.ceil(window.reset_time - time.time()))
        return ProblemError(
            429,
            "too-many-requests",
            f"This client may ask for {self._limit}; the next request is welcome in {wait} s.",
            headers={"Retry-After": str(wait)},
        )
