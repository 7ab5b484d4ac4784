"""The catalogue of patterns: an overview, and a page for each."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.pages.illustration import illustration
from app.pages.view import page
from app.present.guide import guides

FAMILIES = {
    "graph-reuse": "“Trying to backward through the graph a second time”",
    "inplace": "“Modified by an inplace operation”, “a leaf Variable that requires grad”",
    "no-grad": "“Does not require grad”, or a gradient that is None",
    "silent": "No exception, wrong all the same",
    "engine": "Hand-written autograd engines",
}
router = APIRouter(include_in_schema=False, prefix="/patterns")


@router.get("")
async def overview() -> Response:
    """Every pattern, by family."""
    found = list(guides().values())
    families = [
        (heading, [guide for guide in found if guide.family == family])
        for family, heading in FAMILIES.items()
    ]
    return page("patterns.html", families=[pair for pair in families if pair[1]])


@router.get("/{name}")
async def pattern(name: str) -> Response:
    """One pattern: what happens, why, the fix, when the fix is wrong."""
    guide = guides().get(name)
    if guide is None:
        return page("missing.html", 404)
    heading = FAMILIES.get(guide.family, guide.family)
    return page("pattern.html", guide=guide, heading=heading, picture=illustration(name))
