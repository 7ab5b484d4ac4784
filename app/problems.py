"""Errors as RFC 9457 problem details: every answer above 399 is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from app.store.trouble import STORE_TROUBLE

MEDIA_TYPE = "application/problem+json"
TROUBLE_RETRY_S = 5

log = structlog.get_logger()


class ProblemDetails(BaseModel):
    """The body of an error. `detail` says what is wrong, where, and what to send instead."""

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
        """For processes that parse on another's behalf; headers are for who answers."""
        return _rebuilt, (self.status, self.slug, self.detail, self.errors)

    def response(self) -> JSONResponse:
        """The problem as it goes over the wire."""
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


def not_found(what: str) -> ProblemError:
    """A 404 that names what was asked for."""
    return ProblemError(
        404, "not-found", f"There is no {what}. It may have expired or been deleted."
    )


PLAINER = {"string_unicode": "holds half a surrogate pair, which is no character"}


def field_errors(errors: Any) -> list[dict[str, str]]:
    """Pydantic's errors without the values that were sent (they may be somebody's script)."""
    return [
        {
            "field": ".".join(str(part) for part in error["loc"]) or "body",
            "message": PLAINER.get(error["type"], str(error["msg"])),
        }
        for error in errors
    ]


def invalid(errors: Any) -> ProblemError:
    """A 422 that lists the fields at fault."""
    listed = field_errors(errors)
    detail = "; ".join(f"{error['field']}: {error['message']}" for error in listed[:5])
    return ProblemError(422, "invalid-request", detail, errors=listed[:20])


def refused(field: str, why: str) -> ProblemError:
    """A 422 about one field."""
    errors = [{"field": field, "message": why}]
    return ProblemError(422, "invalid-request", f"{field}: {why}.", errors=errors)


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemError)
    return _answer(request, error)


async def _validation(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return invalid(error.errors()).response()


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    slug = HTTPStatus(error.status_code).phrase.lower().replace(" ", "-")
    detail = str(error.detail)
    if error.status_code == 404:
        detail = "Nothing is served at this address; /docs lists what is."
    if error.status_code == 405:
        detail = "This address does not take that method; the Allow header names those it takes."
    problem = ProblemError(error.status_code, slug, detail, headers=error.headers)
    return _answer(request, problem)


def _answer(request: Request, problem: ProblemError) -> Response:
    """A page for a browser that asked for one, a problem for everybody else."""
    wants_page = "text/html" in request.headers.get("accept", "")
    if wants_page and not request.url.path.startswith(API):
        page: Page = request.app.state.problem_page
        return page(problem)
    return problem.response()


async def _store_trouble(_: Request, error: Exception) -> JSONResponse:
    log.warning("the store is in trouble", error=type(error).__name__)
    detail = f"The database takes nothing now; try again in {TROUBLE_RETRY_S} seconds."
    headers = {"Retry-After": str(TROUBLE_RETRY_S)}
    return ProblemError(503, "store-unavailable", detail, headers=headers).response()


async def _gone(_: Request, __: Exception) -> Response:
    """The client left before it had sent its request: nobody reads this."""
    return Response(status_code=400)


async def _unexpected(request: Request, _: Exception) -> Response:
    told = "Gradmend failed; the fault is logged, not yours."
    return _answer(request, ProblemError(500, "internal", told))


Page = Callable[[ProblemError], Response]
API = ("/v1/", "/openapi.json")


def install(app: FastAPI, page: Page) -> None:
    """Make every error of the application a problem; `page` shows it to a browser."""
    app.state.problem_page = page
    app.add_exception_handler(ProblemError, _problem)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _http)
    for trouble in STORE_TROUBLE:
        app.add_exception_handler(trouble, _store_trouble)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _unexpected)
