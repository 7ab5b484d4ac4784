"""The catalogue of patterns: an overview with a search by message, and a page for each."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from analyzers.explain.pattern import pattern_for
from analyzers.messages import catalogue
from app.pages.illustration import illustration
from app.pages.view import page
from app.present.guide import guide_of, guides
from app.present.lookup import LONGEST, LookupResult, look_up

FAMILIES = {
    "graph-reuse": "“Trying to backward through the graph a second time”",
    "inplace": "“Modified by an inplace operation”, “a leaf Variable that requires grad”",
    "no-grad": "“Does not require grad”, or a gradient that is None",
    "silent": "No exception, wrong all the same",
    "engine": "Hand-written autograd engines",
}
router = APIRouter(include_in_schema=False)


@router.get("/patterns")
async def overview(
    asked: Annotated[str, Query(alias="q", max_length=4 * LONGEST)] = "",
) -> Response:
    """Every pattern, by family; before them those that a message or some words point to."""
    every = list(guides().values())
    families = [
        (heading, [guide for guide in every if guide.family == family])
        for family, heading in FAMILIES.items()
    ]
    return page(
        "patterns.html",
        asked=asked,
        found=look_up(asked) if asked.strip() else LookupResult(),
        families=[pair for pair in families if pair[1]],
    )


@router.get("/patterns/{name}")
async def pattern(name: str, http: Request) -> Response:
    """One pattern, by its id or its name: what happens, why, the fix, when the fix is wrong."""
    guide = guide_of(name)
    if guide is None:
        return page("missing.html", 404)
    return page(
        "pattern.html",
        guide=guide,
        heading=FAMILIES.get(guide.family, guide.family),
        picture=illustration(guide.name),
        threads=_threads(guide.name),
        base=str(http.base_url).rstrip("/"),
        related=[g for g in guides().values() if g.family == guide.family and g != guide],
    )


def _threads(name: str) -> dict[str, str]:
    """Return the addresses of public threads about a pattern's messages, by their names."""
    entries = [entry for entry in catalogue().values() if pattern_for(entry.kind) == name]
    return {thread: address for entry in entries for thread, address in entry.threads.items()}


@router.get("/robots.txt")
async def robots(http: Request) -> Response:
    """What crawlers may read: everything but results, which say so themselves."""
    text = f"User-agent: *\nDisallow: /v1/\nSitemap: {http.base_url}sitemap.xml\n"
    return Response(text, media_type="text/plain; charset=utf-8")


@router.get("/sitemap.xml")
async def sitemap(http: Request) -> Response:
    """The pages that do not come and go."""
    pages = ["", "patterns", "docs", *(f"patterns/{guide.id}" for guide in guides().values())]
    urls = "".join(f"<url><loc>{http.base_url}{path}</loc></url>" for path in pages)
    schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
    text = f'<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="{schema}">{urls}</urlset>'
    return Response(text, media_type="application/xml")
