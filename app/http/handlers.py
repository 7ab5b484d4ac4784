"""Every error of the web application becomes a problem: who handles which."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from app.http.problems import ProblemError, invalid
from app.store.trouble import troubles

TROUBLE_RETRY_S = 5

log = structlog.get_logger()


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
    """Return a page for a browser that asked for one, a problem for everybody else."""
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
    """Return a response for a client that left before it had sent its request: nobody reads it."""
    return Response(status_code=400)


async def _unexpected(request: Request, _: Exception) -> Response:
    message = "Gradmend failed; the fault is logged, not yours."
    return _answer(request, ProblemError(500, "internal", message))


Page = Callable[[ProblemError], Response]
API = ("/v1/", "/openapi.json")


def install(app: FastAPI, page: Page, *, postgres: bool) -> None:
    """Make every error of the application a problem; `page` shows it to a browser. `postgres`
    says which database may be in trouble."""
    app.state.problem_page = page
    app.add_exception_handler(ProblemError, _problem)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _http)
    for trouble in troubles(postgres=postgres):
        app.add_exception_handler(trouble, _store_trouble)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _unexpected)
