"""Errors as RFC 9457 problem details: every answer above 399 is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from fastapi.responses import JSONResponse

MEDIA_TYPE = "application/problem+json"


class ProblemDetails(BaseModel):
    """The body of an error. `detail` says what is wrong, where, and what to send instead."""

    model_config = ConfigDict(defer_build=True)

    type: str
    title: str
    status: int
    detail: str
    errors: list[dict[str, str]] = []


class ProblemError(Exception):
    """An answer that is an error; raise it anywhere below a route."""

    def __init__(
        self,
        status: int,
        slug: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        errors: list[dict[str, str]] | None = None,
    ) -> None:
        super().__init__(f"{status} {slug}")
        self.status = status
        self.slug = slug
        self.detail = detail
        self.headers = headers
        self.errors = errors

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the arguments for pickling, for parsers in other processes; headers are left
        out."""
        return _rebuilt, (self.status, self.slug, self.detail, self.errors)

    def response(self) -> JSONResponse:
        """Return the problem as a response."""
        from fastapi.responses import JSONResponse  # the command line raises these without a server

        body: dict[str, Any] = {
            "type": f"urn:gradmend:problem:{self.slug}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
        }
        if self.errors:
            body["errors"] = self.errors
        return JSONResponse(body, self.status, self.headers, MEDIA_TYPE)


def _rebuilt(
    status: int, slug: str, detail: str, errors: list[dict[str, str]] | None
) -> ProblemError:
    return ProblemError(status, slug, detail, errors=errors)


def not_found(what: str, hint: str = "") -> ProblemError:
    """Return a 404 that names what was asked for; the `hint` says why, or what there is instead."""
    return ProblemError(404, "not-found", f"There is no {what}. {hint}".rstrip())


EXPIRED = "It may have expired or been deleted."


LONGEST_NAME = 40  # of a field as an error names it; what was sent may be no name at all
UNKNOWN = "is no field"
_PREDICATES = ("are", "cannot", "changes", "does", "has", "holds", "is", "removes", "was")
PLAINER = {
    "string_unicode": "holds half a surrogate pair, which is no character",
    "extra_forbidden": UNKNOWN,
}


def field_errors(errors: Any, fields: Sequence[str] = ()) -> list[dict[str, str]]:
    """Return Pydantic's errors without the values that were sent (they may be somebody's
    script). `fields` are those that the body may have."""
    return [
        {
            "field": ".".join(str(part)[:LONGEST_NAME] for part in error["loc"]) or "body",
            "message": _message(error, fields),
        }
        for error in errors
    ]


def _message(error: Any, fields: Sequence[str]) -> str:
    """Return Pydantic's message, for an unknown field of the body with the one that was meant."""
    if error["type"] == "too_long":
        return "are {actual_length}; the limit is {max_length}".format(**error["ctx"])
    if error["type"] != "extra_forbidden" or len(error["loc"]) > 1 or not fields:
        return PLAINER.get(error["type"], str(error["msg"]))
    meant = get_close_matches(str(error["loc"][0]), fields, 1)
    hint = f"did you mean {meant[0]}?" if meant else f"the fields are {', '.join(fields)}"
    return f"{UNKNOWN}; {hint}"


def stated(field: str, why: str) -> str:
    """Return what is wrong with a field: as a sentence, or the field and what was found in it."""
    return f"{field} {why}" if why.startswith(_PREDICATES) else f"{field}: {why}"


def invalid(errors: Any, fields: Sequence[str] = ()) -> ProblemError:
    """Return a 422 that lists the errors, and names what was meant of the body's `fields`."""
    listed = field_errors(errors, fields)
    detail = "; ".join(stated(error["field"], error["message"]) for error in listed[:5])
    return ProblemError(422, "invalid-request", detail, errors=listed[:20])


def refused(field: str, why: str) -> ProblemError:
    """Return a 422 about one field."""
    errors = [{"field": field, "message": why}]
    return ProblemError(422, "invalid-request", f"{stated(field, why)}.", errors=errors)
