"""A result's page, from the first moment on: it fills as the diagnosis goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from analyzers.notebooks.notebook import is_notebook
from app.api.common import DiagnosisId, TheService, found, with_address
from app.http.problems import ProblemError
from app.pages import listing
from app.pages.diffs import Hunk, hunks
from app.pages.sources import entry_of, sources_of
from app.pages.view import page
from app.present import fix_wording, retain_graph, share, wording
from app.present.guide import guides
from app.present.healthy import looked_for
from app.present.picture import diagnosis_scene, draw
from app.present.story import StoryEvent, family_of, steps
from app.schemas import Cause, Diagnosis, DiagnosisRequest, Patch
from app.service import Service
from app.store.diagnoses import NEVER

PRINTED = 4000
"""Characters of a run's output that a page shows: the last ones."""

LONGEST_NAME = 44
"""Characters of a tab's name that fit on a phone."""

router = APIRouter(include_in_schema=False, prefix="/d")


@router.get("/{diagnosis_id}")
async def show(
    diagnosis_id: DiagnosisId,
    http: Request,
    service: TheService,
    reported: Annotated[bool, Query()] = False,
) -> Response:
    """The result, or how far it has come."""
    try:
        diagnosis = with_address(http, service, await found(service, diagnosis_id))
    except ProblemError:
        return page("missing.html", 404)
    request = await service.request(diagnosis_id)
    if request is None:  # deleted a moment ago
        return page("missing.html", 404)
    sources = await sources_of(request, service.reader)
    mine = await service.may_delete(http, diagnosis_id)
    if diagnosis.status in ("queued", "running"):
        progress = await progress_of(service, diagnosis_id)
        return await asyncio.to_thread(_working, diagnosis, request, sources, progress, mine)
    may_keep = mine and service.settings.keep_on_request and diagnosis.expires_at < NEVER
    shown = await asyncio.to_thread(_context, diagnosis, request, sources)
    kept = diagnosis.expires_at >= NEVER
    return await asyncio.to_thread(
        partial(
            page, running=False, mine=mine, may_keep=may_keep, kept=kept, reported=reported, **shown
        ),
        "result.html",
    )


# Threads make the pages: colours take a while.
def _working(
    diagnosis: Diagnosis,
    request: DiagnosisRequest,
    sources: Mapping[str, str],
    progress: list[str],
    mine: bool,
) -> Response:
    shown = _so_far(diagnosis, request, sources)
    return page("working.html", running=True, messages=progress, mine=mine, **shown)


async def progress_of(service: Service, diagnosis_id: str) -> list[str]:
    """What the diagnosis has said about its progress so far."""
    events = await service.store.events(diagnosis_id)
    texts = [json.loads(event.data)["message"] for event in events if event.kind == "progress"]
    return list(dict.fromkeys(texts))


def _answer(
    diagnosis: Diagnosis, request: DiagnosisRequest, sources: Mapping[str, str]
) -> dict[str, Any]:
    """The source with its marks, each fix in it, and the story; as much as is known of them."""
    cause = diagnosis.causes[0] if diagnosis.causes else None
    events = steps(cause, family_of(cause)) if cause else []
    notebook = is_notebook(request.script)
    fixes = [_fix(patch, cause, events, sources) for patch in diagnosis.patches] if cause else []
    shown = listing.listings(cause, events, sources) if cause else []
    if notebook:
        shown = _in_cells(shown, sources)
        fixes = [replace(fix, listings=_in_cells(fix.listings, sources)) for fix in fixes]
    folded = _folded(fixes)
    return {
        "diagnosis": diagnosis,
        "state": wording.state(diagnosis, diagnosis.status),
        "cause": cause,
        "steps": events,
        "fixes": folded,
        "folded": sum(fix.folded for fix in folded),
        "listings": shown,
        "notebook": notebook,
        "picture": None,
        "healthy": [],
        "known": guides(),
        "known_files": set(sources),
        "whole_url": f"/d/{diagnosis.id}/source",
    }


def _so_far(
    diagnosis: Diagnosis, request: DiagnosisRequest, sources: Mapping[str, str]
) -> dict[str, Any]:
    """The source at once, then its marks and story, then every fix that passes."""
    answer = _answer(diagnosis, request, sources)
    if not diagnosis.causes:
        answer["listings"] = _head(request, sources)
    return answer


def _head(request: DiagnosisRequest, sources: Mapping[str, str]) -> list[listing.Listing]:
    """The first lines of the script, where there is nothing to mark in it."""
    shown = [listing.head(*one) for one in list(sources.items())[-1:]]
    return _in_cells(shown, sources) if is_notebook(request.script) else shown


def _context(
    diagnosis: Diagnosis, request: DiagnosisRequest, sources: Mapping[str, str]
) -> dict[str, Any]:
    scene = diagnosis_scene(diagnosis, sources)
    answer = _answer(diagnosis, request, sources)
    first = diagnosis.patches[0] if answer["fixes"] else None
    healthy = looked_for(diagnosis)
    if healthy:
        answer["listings"] = _head(request, sources)
    return answer | {
        "request": request,
        "untested": wording.unchecked(diagnosis),
        "versions": wording.versions(diagnosis),
        "healthy": healthy,
        "fixed": first is not None and first.verification.status == "passed",
        "picture": draw(scene) if scene else None,
        "caption": scene.description if scene else "",
        "retain_graph": retain_graph.advice(diagnosis),
        "shared": [
            (
                "As short Markdown, for an issue",
                "markdown-short",
                share.as_short_markdown(diagnosis),
            ),
            ("As Markdown, with everything", "markdown", share.as_markdown(diagnosis)),
        ],
        "printed": _printed(diagnosis),
        "own_source": sources.get(entry_of(request, sources), "") if request.script else "",
        "api_url": diagnosis.url.replace("/d/", "/v1/diagnoses/"),
    }


@dataclass(frozen=True, slots=True)
class FixView:
    """A patch as the page lays it out. `merged`: its listings hold the change itself; `folded`: it
    does what one before it does."""

    patch: Patch
    hunks: list[Hunk]
    listings: list[listing.Listing]
    merged: bool
    folded: bool = False

    @property
    def key(self) -> str:
        """What names it while the order of the fixes still changes."""
        return blake2b(self.patch.diff.encode(), digest_size=6).hexdigest()

    @property
    def name(self) -> tuple[str, str]:
        """What its tab says: its title's beginning, which is cut where there is no room, and its
        end: fixes that begin alike differ there."""
        title = self.patch.title.replace("`", "")
        if len(title) <= LONGEST_NAME:
            return title, ""
        end = title[-LONGEST_NAME // 2 :].partition(" ")[2]
        return title.removesuffix(end), end


def _folded(fixes: Sequence[FixView]) -> list[FixView]:
    """The fixes with those folded away that do the same to the training as one before them."""
    seen: set[tuple[str, ...]] = set()
    found = []
    for fix in fixes:
        patch = fix.patch
        effect = (
            patch.verification.status,
            patch.gradients,
            patch.level,
            fix_wording.training(patch),
        )
        found.append(replace(fix, folded=effect in seen))
        seen.add(effect)
    return found


def _fix(
    patch: Patch, cause: Cause | None, events: Sequence[StoryEvent], sources: Mapping[str, str]
) -> FixView:
    found = hunks(patch.diff)
    merged = listing.fits(found, sources)
    shown = listing.listings(cause, events, sources, found if merged else ()) if cause else []
    return FixView(patch, found, shown, merged)


def _in_cells(
    shown: Sequence[listing.Listing], sources: Mapping[str, str]
) -> list[listing.Listing]:
    """A notebook's own listing as its cells. Its script, made of them, is the last source."""
    script = list(sources)[-1] if sources else ""
    return [listing.in_cells(one, sources[script]) if one.file == script else one for one in shown]


def _printed(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    run = diagnosis.run
    if run is None:
        return []
    streams = (("What it printed", run.stdout_tail), ("Its error output", run.stderr_tail))
    return [(name, text[-PRINTED:].strip("\n")) for name, text in streams if text.strip()]


@router.get("/{diagnosis_id}/source")
async def source(
    diagnosis_id: DiagnosisId, file: Annotated[str, Query(max_length=255)], service: TheService
) -> Response:
    """A whole file, with the numbers of what happened in its margin."""
    diagnosis = await found(service, diagnosis_id)
    request = await service.request(diagnosis_id)
    sources = await sources_of(request, service.reader) if request is not None else {}
    if file not in sources:
        return page("missing.html", 404)
    events = steps(diagnosis.causes[0], family_of(diagnosis.causes[0])) if diagnosis.causes else []
    shown = listing.whole(file, sources[file], events)
    if request is not None and is_notebook(request.script):
        shown = _in_cells([shown], sources)[0]
    return page("source.html", id=diagnosis_id, listing=shown)


@router.post("/{diagnosis_id}/keep")
async def keep(diagnosis_id: DiagnosisId, http: Request, service: TheService) -> Response:
    """Keep the result until its sender deletes it."""
    await found(service, diagnosis_id)
    await service.keep(http, diagnosis_id)
    return RedirectResponse(f"/d/{diagnosis_id}#share", 303)


@router.post("/{diagnosis_id}/wrong")
async def wrong(diagnosis_id: DiagnosisId, http: Request, service: TheService) -> Response:
    """Keep what somebody says is wrong with the result, for whoever runs the service."""
    await found(service, diagnosis_id)
    async with http.form(max_files=0, max_fields=4) as form:
        await service.report(diagnosis_id, str(form.get("text", "")))
    return RedirectResponse(f"/d/{diagnosis_id}?reported=true#wrong", 303)


@router.post("/{diagnosis_id}/delete")
async def delete(diagnosis_id: DiagnosisId, http: Request, service: TheService) -> Response:
    """Forget the diagnosis and everything that was sent for it."""
    try:
        await found(service, diagnosis_id)
    except ProblemError:
        return page("missing.html", 404)
    await service.discard(http, diagnosis_id)
    return page("deleted.html")
