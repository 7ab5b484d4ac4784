"""Health, readiness and metrics."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from app.api.common import TheService, problems
from app.http.problems import MEDIA_TYPE, not_found
from app.readiness import Ready

router = APIRouter(tags=["operations"])


class Health(BaseModel):
    """The process answers."""

    status: str = "ok"


@router.get("/healthz", operation_id="health")
async def healthz() -> Health:
    """Whether the process is alive."""
    return Health()


@router.get("/readyz", operation_id="readiness", response_model=Ready, responses=problems(503))
async def readyz(service: TheService) -> Response:
    """Whether the service can do its whole work: the sandbox's backend, its walls, and why not."""
    ready = await service.ready()
    if ready.ready:
        return JSONResponse(ready.model_dump())
    problem = {
        "type": "urn:gradmend:problem:not-ready",
        "title": "Service Unavailable",
        "status": 503,
        "detail": f"Scripts cannot be run here: {ready.reason}. They are still read.",
    }
    return JSONResponse({**problem, **ready.model_dump()}, 503, media_type=MEDIA_TYPE)


@router.get(
    "/metrics",
    operation_id="metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}, **problems(404)},
)
async def metrics(service: TheService) -> Response:
    """Counts and times for Prometheus."""
    if not service.settings.metrics:
        raise not_found("metrics endpoint here")
    service.metrics.waiting.set(await service.jobs.waiting())
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
