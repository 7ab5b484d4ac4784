"""The pages: the form, a result, the catalogue. They work without JavaScript."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.http.problems import ProblemError
from app.pages import assets, catalogue, changes, downloads, form, messages, previews, result
from app.pages.view import page


def problem_page(problem: ProblemError) -> Response:
    """An error as a page, for a browser that asked for one."""
    shown = page("problem.html", problem.status, problem=problem)
    shown.headers.update(problem.headers or {})
    return shown


router = APIRouter(include_in_schema=False)
for part in (form, changes, result, previews, catalogue, messages, downloads, assets):
    router.include_router(part.router)

__all__ = ["problem_page", "router"]
