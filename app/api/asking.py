"""What asking for a diagnosis and for a verification have in common."""

from __future__ import annotations

from typing import Any

from fastapi import Query, Request, Response

from app.api.common import existing, with_address
from app.api.responses import MARKDOWN, View, answer
from app.service import TOKEN_HEADER, Service
from app.store.request_kinds import RequestKind

MARKDOWN_TOO: dict[str, Any] = {"content": {MARKDOWN: {"schema": {"type": "string"}}}}
WAIT = Query(ge=0, le=60, description="seconds that the call may block")
TEXT_PART = {"type": "string", "contentMediaType": "text/plain"}
FILE_PARTS = {"type": "array", "items": {"type": "string", "format": "binary"}, "maxItems": 64}
_RETRY_AFTER_S = "1"


def document(
    schema: str, form: dict[str, Any], example: dict[str, str], result: str
) -> dict[str, Any]:
    """Return what OpenAPI is to say of a request: its body, as JSON or as a form, and the
    header that makes a retry harmless. `result` names what the call makes.
    """
    return {
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {"$ref": f"#/components/schemas/{schema}"},
                    "example": example,
                },
                "multipart/form-data": {"schema": form},
            },
        },
        "parameters": [
            {
                "name": "Idempotency-Key",
                "in": "header",
                "schema": {"type": "string", "minLength": 1, "maxLength": 255},
                "description": f"a retried POST with the same key returns the first one's {result}",
            }
        ],
    }


async def answered(
    http: Request,
    service: Service,
    made: str,
    kind: RequestKind[Any, Any, Any],
    wait: float,
    view: View,
) -> Response:
    """Wait at most `wait` seconds; return 200 with the result, or 202 with what is known so far."""
    finished = await service.wait(made, wait)
    headers = {"Location": f"{kind.api}{made}"}
    if not finished:
        headers["Retry-After"] = _RETRY_AFTER_S
    if (token := await service.token(made)) is not None:
        headers[TOKEN_HEADER] = token
    shown = with_address(http, service, await existing(service, made, kind))
    return answer(http, shown, view, 200 if finished else 202, **headers)
