"""Read the idempotency key of a request."""

from __future__ import annotations

import hashlib

from fastapi import Request
from pydantic import BaseModel

from app.http.clients import sender_of
from app.http.problems import ProblemError
from app.store import (
    Key,
)

KEY_LENGTH = 255


def key_of(http: Request, request: BaseModel) -> Key | None:
    """Return the request's idempotency key, distinct for each client."""
    given = http.headers.get("idempotency-key")
    if given is None:
        return None
    if not 0 < len(given) <= KEY_LENGTH:
        why = f"The Idempotency-Key must have 1 to {KEY_LENGTH} characters."
        raise ProblemError(422, "invalid-request", why)
    return Key(
        hashlib.sha256(f"{sender_of(http)}\n{given}".encode()).hexdigest(),
        hashlib.sha256(request.model_dump_json().encode()).hexdigest(),
    )
