"""The catalogue of messages: what each means, its usual causes, and where it is explained."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from analyzers.explain.pattern import pattern_for
from analyzers.messages import catalogue
from app.pages.catalogue import FAMILIES
from app.pages.view import page
from app.present.lookup import LONGEST, LookupResult, look_up

router = APIRouter(include_in_schema=False, prefix="/messages")


@router.get("")
async def overview(
    asked: Annotated[str, Query(alias="q", max_length=4 * LONGEST)] = "",
) -> Response:
    """Every message, by family, under the id that answers name; before them those that a text is
    or is a part of.
    """
    listed = (entry for entry in catalogue().values() if entry.texts or entry.question)
    found = [(entry, pattern_for(entry.kind)) for entry in listed]
    families = [
        (heading, [each for each in found if each[0].family == family])
        for family, heading in {**FAMILIES, "other": "Other errors about gradients"}.items()
    ]
    return page(
        "messages.html",
        asked=asked,
        found=look_up(asked) if asked.strip() else LookupResult(),
        families=[pair for pair in families if pair[1]],
    )
