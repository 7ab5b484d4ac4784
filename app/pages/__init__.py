"""The pages: the form, a result, the catalogue. They work without JavaScript."""

from __future__ import annotations

from fastapi import APIRouter

from app.pages import assets, catalogue, downloads, form, result

router = APIRouter(include_in_schema=False)
for part in (form, result, catalogue, downloads, assets):
    router.include_router(part.router)

__all__ = ["router"]
