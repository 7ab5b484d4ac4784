"""A diagnosis as the client asked for it: JSON whole or brief, or Markdown; not sent again when
the client has it already."""

from __future__ import annotations

from hashlib import blake2b
from typing import Annotated, Literal

from fastapi import Query, Request, Response
from pydantic import BaseModel

from app.change_schemas import ChangeVerification
from app.present.brief import brief_of
from app.present.changes import brief_change, change_as_markdown
from app.present.share import as_short_markdown
from app.schemas import Diagnosis

MARKDOWN = "text/markdown"
View = Annotated[
    Literal["full", "brief"], Query(description="brief: first cause and first fix, about 1 kB")
]


def answer(
    http: Request,
    result: Diagnosis | ChangeVerification,
    view: str,
    status: int = 200,
    **headers: str,
) -> Response:
    """Return the result in the requested form.

    A finished one has an ETag; the response is 304 if the client sends the same ETag.
    """
    if _prefers_markdown(http):
        body, media_type = _markdown(result), f"{MARKDOWN}; charset=utf-8"
    else:
        shown = _brief(result) if view == "brief" else result
        body, media_type = shown.model_dump_json(), "application/json"
    headers["Vary"] = "Accept"
    if result.status in ("done", "failed"):
        tag = f'"{blake2b(body.encode(), digest_size=12).hexdigest()}"'
        headers |= {"ETag": tag, "Cache-Control": "private, no-cache"}
        known = http.headers.get("if-none-match", "")
        if http.method == "GET" and tag in {part.strip() for part in known.split(",")}:
            return Response(status_code=304, headers=headers)
    return Response(body, status, headers, media_type)


def _markdown(result: Diagnosis | ChangeVerification) -> str:
    if isinstance(result, ChangeVerification):
        return change_as_markdown(result, result.url)
    return as_short_markdown(result)


def _brief(result: Diagnosis | ChangeVerification) -> BaseModel:
    return brief_change(result) if isinstance(result, ChangeVerification) else brief_of(result)


def _prefers_markdown(http: Request) -> bool:
    accepted = http.headers.get("accept", "")
    return MARKDOWN in accepted and "application/json" not in accepted
