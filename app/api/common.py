"""What the routes share: the service, ids, and how problems look in the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any, cast

from fastapi import Depends, Path, Request

from app.http.problems import MEDIA_TYPE, ProblemDetails, not_found
from app.schemas import Diagnosis
from app.service import Service

PROBLEM_SCHEMA = {"$ref": "#/components/schemas/ProblemDetails"}


def _service(request: Request) -> Service:
    return cast(Service, request.app.state.service)


TheService = Annotated[Service, Depends(_service)]
DiagnosisId = Annotated[
    str, Path(description="as given by POST", examples=["3q2-7wXk1VYb0hUe9mZc4A"])
]


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that may answer with these errors."""
    return {
        status: {"model": ProblemDetails, "content": {MEDIA_TYPE: {"schema": PROBLEM_SCHEMA}}}
        for status in statuses
    }


async def found(service: Service, diagnosis_id: str) -> Diagnosis:
    """The diagnosis; a 404 problem when there is none."""
    diagnosis = await service.diagnosis(diagnosis_id) if _plausible(diagnosis_id) else None
    if diagnosis is None:
        raise not_found("diagnosis with this id")
    return diagnosis


def _plausible(diagnosis_id: str) -> bool:
    """Whether the text can be an id at all; PostgreSQL takes no NUL in a query."""
    return diagnosis_id.isascii() and diagnosis_id.isprintable() and len(diagnosis_id) <= 64


def with_address(http: Request, service: Service, diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis with its page's absolute address."""
    base = service.settings.public_url or str(http.base_url).rstrip("/")
    return diagnosis.model_copy(update={"url": f"{base}/d/{diagnosis.id}"})
