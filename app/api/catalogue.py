"""The pattern catalogue."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from app.api.common import problems
from app.http.problems import not_found
from app.present.guide import Guide, guide_of, guides, nearest_name

router = APIRouter(prefix="/v1/patterns", tags=["patterns"])


class PatternEntry(BaseModel):
    """A pattern of the catalogue; `text` is Markdown, `broken` and `mended` are Python."""

    id: str
    pattern: str
    family: str
    title: str
    summary: str
    text: str
    broken: str
    mended: str
    url: str


class Patterns(BaseModel):
    """All patterns, by name."""

    patterns: list[PatternEntry]


def entry(guide: Guide) -> PatternEntry:
    """Return a guide as the API's model."""
    return PatternEntry(
        id=guide.id,
        pattern=guide.name,
        family=guide.family,
        title=guide.title,
        summary=guide.lead,
        text=guide.text,
        broken=guide.broken,
        mended=guide.mended,
        url=f"/patterns/{guide.name}",
    )


@router.get("", operation_id="list_patterns")
async def every_pattern() -> Patterns:
    """What the service can find, with a broken and a fixed example for each."""
    return Patterns(patterns=[entry(guide) for guide in guides().values()])


@router.get("/{pattern}", operation_id="read_pattern", responses=problems(404))
async def one_pattern(pattern: str) -> PatternEntry:
    """One pattern of the catalogue, by its id or its name."""
    guide = guide_of(pattern)
    if guide is None:
        meant = f"Did you mean {near}? " if (near := nearest_name(pattern)) else ""
        raise not_found("pattern of this id or name", f"{meant}/v1/patterns lists them.")
    return entry(guide)
