"""The catalogue of messages: what each means, its usual causes, and where it is explained."""

from __future__ import annotations

from fastapi import APIRouter, Response

from analyzers.explain.pattern import pattern_for
from analyzers.messages import catalogue
from app.pages.catalogue import FAMILIES
from app.pages.view import page

router = APIRouter(include_in_schema=False, prefix="/messages")


@router.get("")
async def overview() -> Response:
    """Every message, by family, under the id that answers name."""
    found = [(entry, pattern_for(entry.kind)) for entry in catalogue().values() if entry.texts]
    families = [
        (heading, [each for each in found if each[0].family == family])
        for family, heading in {**FAMILIES, "other": "Other errors about gradients"}.items()
    ]
    return page("messages.html", families=[pair for pair in families if pair[1]])
