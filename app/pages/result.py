"""A result's page, from the first moment on: it fills as the diagnosis goes on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from markupsafe import Markup

from analyzers.notebooks.notebook import is_notebook
from app.api.common import DiagnosisId, TheService, found, with_address
from app.guide import guides
from app.pages import listing, share
from app.pages.diffs import hunks
from app.pages.sources import sources_of
from app.pages.view import page
from app.picture import diagnosis_scene, draw, family_of
from app.problems import ProblemError
from app.schemas import Diagnosis, DiagnosisRequest, Patch
from app.service import Service

PRINTED = 4000
"""Characters of a run's output that a page shows: the last ones."""

router = APIRouter(include_in_schema=False, prefix="/d")


@router.get("/{diagnosis_id}")
async def show(diagnosis_id: DiagnosisId, http: Request, service: TheService) -> Response:
    """The result, or how far it has come."""
    try:
        diagnosis = with_address(http, service, await found(service, diagnosis_id))
    except ProblemError:
        return page("missing.html", 404)
    request = await service.request(diagnosis_id)
    if request is None:  # deleted a moment ago
        return page("missing.html", 404)
    if diagnosis.status in ("queued", "running"):
        return page("working.html", diagnosis=diagnosis, told=await _told(service, diagnosis_id))
    sources = await sources_of(request, service.reader)
    return page("result.html", **_context(diagnosis, request, sources))


async def _told(service: Service, diagnosis_id: str) -> list[str]:
    """What the diagnosis has said about its progress so far."""
    events = await service.store.events(diagnosis_id)
    texts = [json.loads(event.data)["message"] for event in events if event.kind == "progress"]
    return list(dict.fromkeys(texts))


def _context(
    diagnosis: Diagnosis, request: DiagnosisRequest, sources: Mapping[str, str]
) -> dict[str, Any]:
    cause = diagnosis.causes[0] if diagnosis.causes else None
    return {
        "diagnosis": diagnosis,
        "request": request,
        "cause": cause,
        "listings": listing.listings(cause, sources, family_of(cause)) if cause else [],
        "picture": _picture(diagnosis, sources),
        "hunks": hunks,
        "markdown": share.as_markdown(diagnosis),
        "printed": _printed(diagnosis),
        "known": guides(),
        "api_url": diagnosis.url.replace("/d/", "/v1/diagnoses/"),
    }


def _picture(diagnosis: Diagnosis, sources: Mapping[str, str]) -> Markup | None:
    """The picture of graph lifetimes; None where there is nothing true to draw."""
    scene = diagnosis_scene(diagnosis, sources)
    return draw(scene) if scene else None


def _printed(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    run = diagnosis.run
    if run is None:
        return []
    streams = (("What it printed", run.stdout_tail), ("Its error output", run.stderr_tail))
    return [(name, text[-PRINTED:].strip("\n")) for name, text in streams if text.strip()]


@router.get("/{diagnosis_id}/patches/{n}.py")
async def patched(
    diagnosis_id: DiagnosisId, n: Annotated[int, Path(ge=0, le=1000)], service: TheService
) -> Response:
    """The whole patched script, to save; the whole notebook, if that was sent."""
    diagnosis = await found(service, diagnosis_id)
    request = await service.request(diagnosis_id)
    patch: Patch | None = next((patch for patch in diagnosis.patches if patch.n == n), None)
    if patch is None or request is None:
        return page("missing.html", 404)
    name = re.sub(r"[^A-Za-z0-9._-]", "_", PurePath(request.filename).stem) or "train"
    suffix, media_type = (".py", "text/x-python; charset=utf-8")
    if is_notebook(request.script):
        suffix, media_type = (".ipynb", "application/x-ipynb+json")
    headers = {"Content-Disposition": f'attachment; filename="{name}{suffix}"'}
    return Response(patch.script, headers=headers, media_type=media_type)


@router.post("/{diagnosis_id}/delete")
async def delete(diagnosis_id: DiagnosisId, http: Request, service: TheService) -> Response:
    """Forget the diagnosis and everything that was sent for it."""
    try:
        await found(service, diagnosis_id)
    except ProblemError:
        return page("missing.html", 404)
    await service.discard(http, diagnosis_id)
    return page("deleted.html")
