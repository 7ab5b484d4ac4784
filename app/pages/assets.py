"""Styles, scripts and icons: a closed set, read once, addressed by a digest of their content."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from fastapi import APIRouter, Request, Response

MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Asset:
    content: bytes
    media_type: str
    digest: str


@cache
def assets() -> dict[str, Asset]:
    """Every file in `app/static`, by its name."""
    found = {}
    for entry in (files("app") / "static").iterdir():
        suffix = "." + entry.name.rpartition(".")[2]
        if suffix in MEDIA_TYPES:
            content = entry.read_bytes()
            digest = sha256(content).hexdigest()[:12]
            found[entry.name] = Asset(content, MEDIA_TYPES[suffix], digest)
    return found


def asset_url(name: str) -> str:
    """The address of a file in `app/static`, which changes with the content; empty where there is
    no such file (the editor is built, and the form does without it)."""
    found = assets().get(name)
    return f"/static/{name}?v={found.digest}" if found else ""


@router.get("/favicon.ico")
def favicon() -> Response:
    """Where browsers look for an icon without having read a page."""
    return Response(status_code=308, headers={"Location": asset_url("icon.svg")})


@router.get("/static/{name}")
def asset(name: str, request: Request) -> Response:
    """A static file; for ever where the address names its digest, else for a minute."""
    found = assets().get(name)
    if found is None:
        return Response("There is no such file.", 404, media_type="text/plain")
    etag = f'"{found.digest}"'
    lasting = request.query_params.get("v") == found.digest
    headers = {
        "ETag": etag,
        "Cache-Control": "public, max-age=31536000, immutable" if lasting else "max-age=60",
    }
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    return Response(found.content, headers=headers, media_type=found.media_type)
