"""The picture that goes with a shared link."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Response

from app.api.common import DiagnosisId, TheService, found
from app.pages.view import page
from app.schemas import Diagnosis

router = APIRouter(include_in_schema=False, prefix="/d")
LASTING = "private, max-age=300"  # a deleted result is soon gone from there, too


def _picture(diagnosis: Diagnosis) -> bytes:
    from app.present.preview import png, preview_of  # with Pillow, which no other answer needs

    return png(preview_of(diagnosis))


@router.get("/{diagnosis_id}/preview.png")
async def preview(diagnosis_id: DiagnosisId, service: TheService) -> Response:
    """A finished result in a picture."""
    diagnosis = await found(service, diagnosis_id)
    if diagnosis.status not in ("done", "failed"):
        return page("missing.html", 404)
    content = await asyncio.to_thread(_picture, diagnosis)
    return Response(content, media_type="image/png", headers={"Cache-Control": LASTING})
