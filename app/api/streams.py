"""What hangs on a diagnosis: its events, its patches, its picture."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Path, Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from app.api.common import DiagnosisId, TheService, found, problems
from app.http.problems import not_found
from app.present.picture import graph_svg
from app.present.visible import visible
from app.request.uploads import texts_of
from app.service import Service

router = APIRouter(prefix="/v1/diagnoses/{diagnosis_id}", tags=["diagnoses"])

KEEP_ALIVE_S = 15
SEQ_DIGITS = 18  # what surely fits the database's integers
# A picture of its own holds its style sheet, and nothing else.
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


@router.get(
    "/events",
    operation_id="follow_diagnosis",
    response_class=EventSourceResponse,
    responses={200: {"content": {"text/event-stream": {}}}, **problems(404)},
)
async def events(
    diagnosis_id: DiagnosisId,
    service: TheService,
    last_event_id: Annotated[str | None, Header(description="resume behind this event")] = None,
) -> EventSourceResponse:
    """`status`, `progress`, `cause`, `patch` and `done` events, from the first or resumed."""
    await found(service, diagnosis_id)
    return followed(service, diagnosis_id, last_event_id)


def followed(service: Service, diagnosis_id: str, last_event_id: str | None) -> EventSourceResponse:
    """Return the events of a request as they happen, after the last one that the client has."""
    seen = last_event_id or ""
    after = int(seen) if seen.isdecimal() and len(seen) <= SEQ_DIGITS else 0
    stream = _stream(service, diagnosis_id, after)
    return EventSourceResponse(stream, ping=KEEP_ALIVE_S)


async def _stream(
    service: Service, diagnosis_id: str, after: int
) -> AsyncIterator[ServerSentEvent]:
    async for event in service.events(diagnosis_id, after):
        yield ServerSentEvent(event.data, event=event.kind, id=str(event.seq))


@router.get(
    "/patches/{n}.diff",
    operation_id="read_patch",
    response_class=Response,
    responses={200: {"content": {"text/x-diff": {}}}, **problems(404, 422)},
)
async def patch(
    diagnosis_id: DiagnosisId,
    n: Annotated[int, Path(ge=0, le=1000)],
    service: TheService,
) -> Response:
    """A patch for `git apply` or `patch -p1`."""
    diagnosis = await found(service, diagnosis_id)
    for patch in diagnosis.patches:
        if patch.n == n:
            return Response(patch.diff, media_type="text/x-diff; charset=utf-8")
    count = len(diagnosis.patches)
    raise not_found(f"patch {n} in this diagnosis", f"It has {count}, from 1." * bool(count))


@router.get(
    "/graph.svg",
    operation_id="read_picture",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}}, **problems(404)},
)
async def picture(diagnosis_id: DiagnosisId, service: TheService) -> Response:
    """A picture of what happened to the graph."""
    diagnosis = await found(service, diagnosis_id)
    request = await service.request(diagnosis_id)
    sources = texts_of(request.files) if request else {}
    if request:
        sources[request.filename] = request.script
    return Response(
        visible(graph_svg(diagnosis, sources)),
        media_type="image/svg+xml",
        headers={"Content-Security-Policy": PICTURE_POLICY},
    )
