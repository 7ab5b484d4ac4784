"""The pattern catalogue."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from app.api.common import problems
from app.catalogue import CatalogueEntry, catalogue
from app.problems import not_found

router = APIRouter(prefix="/v1/patterns", tags=["patterns"])


class Patterns(BaseModel):
    """All patterns, by name."""

    patterns: list[CatalogueEntry]


@router.get("", operation_id="list_patterns")
async def every_pattern() -> Patterns:
    """What the service can find, with a broken and a mended example for each."""
    return Patterns(patterns=list(catalogue().values()))


@router.get("/{pattern}", operation_id="read_pattern", responses=problems(404))
async def one_pattern(pattern: str) -> CatalogueEntry:
    """One pattern of the catalogue."""
    entry = catalogue().get(pattern)
    if entry is None:
        raise not_found("pattern of this name; /v1/patterns lists them")
    return entry
