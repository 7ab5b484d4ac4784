"""What the routes share: the service, ids, and how problems look in the OpenAPI document."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, cast

from fastapi import Depends, Path, Request

from app.http.problems import EXPIRED, MEDIA_TYPE, not_found
from app.schemas import Diagnosis
from app.service import Service
from app.store.request_kinds import DIAGNOSIS, Answer, RequestKind

PROBLEM_SCHEMA = {"$ref": "#/components/schemas/ProblemDetails"}


def _service(request: Request) -> Service:
    return cast(Service, request.app.state.service)


TheService = Annotated[Service, Depends(_service)]
DiagnosisId = Annotated[
    str, Path(description="as given by POST", examples=["3q2-7wXk1VYb0hUe9mZc4A"])
]
RequestId = DiagnosisId


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route that may answer with these errors."""
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": PROBLEM_SCHEMA}},
        }
        for status in statuses
    }


async def found(service: Service, diagnosis_id: str) -> Diagnosis:
    """Return the diagnosis. Raise a 404 problem if there is none."""
    return await existing(service, diagnosis_id, DIAGNOSIS)


async def existing(
    service: Service, request_id: str, kind: RequestKind[Any, Any, Answer]
) -> Answer:
    """Return the answer to a request of this kind. Raise a 404 problem if there is none."""
    answer = await service.answer(request_id, kind)
    if answer is None:
        raise not_found(f"{kind.name} with this id", EXPIRED)
    return answer


def with_address(http: Request, service: Service, answer: Answer) -> Answer:
    """Return the answer with its page's absolute address; the store holds the path."""
    base = service.settings.public_url or str(http.base_url).rstrip("/")
    return answer.model_copy(update={"url": f"{base}{answer.url}"})
