"""Asking for a diagnosis, reading it, deleting it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from app.api.common import DiagnosisId, TheService, found, problems, with_address
from app.intake import read_request
from app.schemas import Diagnosis, DiagnosisRequest
from app.service import TOKEN_HEADER

router = APIRouter(prefix="/v1/diagnoses", tags=["diagnoses"])

EXAMPLE = {
    "script": "import torch\nw = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\n"
    "loss.backward()\nloss.backward()\n",
    "filename": "train.py",
}
_TEXT_PART = {"type": "string", "contentMediaType": "text/plain"}
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": DiagnosisRequest.model_json_schema(),
                "example": EXAMPLE,
            },
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "script": _TEXT_PART,
                        "traceback": _TEXT_PART,
                        "files": {"type": "array", "items": _TEXT_PART, "maxItems": 64},
                        "run": {"enum": ["auto", "never"]},
                        "time_limit_s": {"type": "number", "minimum": 1, "maximum": 60},
                    },
                },
            },
        },
    },
    "parameters": [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255},
            "description": "a retried POST with the same key returns the first one's diagnosis",
        }
    ],
}
WAIT = Query(ge=0, le=60, description="seconds that the call may block")
RETRY_AFTER_S = "1"


@router.post(
    "",
    operation_id="diagnose",
    response_model=Diagnosis,
    openapi_extra=BODY,
    responses={202: {"model": Diagnosis}, **problems(400, 401, 403, 413, 415, 422, 429, 503)},
)
async def diagnose(
    http: Request,
    response: Response,
    service: TheService,
    wait: Annotated[float, WAIT] = 30,
) -> Diagnosis:
    """Diagnose a script: 200 with the result, or 202 with what is known when `wait` is over."""
    request = await read_request(http)
    diagnosis_id = await service.accept(http, request)
    finished = await service.wait(diagnosis_id, wait)
    response.headers["Location"] = f"/v1/diagnoses/{diagnosis_id}"
    if not finished:
        response.status_code = 202
        response.headers["Retry-After"] = RETRY_AFTER_S
    if (token := await service.token(diagnosis_id)) is not None:
        response.headers[TOKEN_HEADER] = token
    return with_address(http, service, await found(service, diagnosis_id))


@router.get("/{diagnosis_id}", operation_id="read_diagnosis", responses=problems(404))
async def read(http: Request, diagnosis_id: DiagnosisId, service: TheService) -> Diagnosis:
    """The diagnosis; while it runs, what is known so far."""
    return with_address(http, service, await found(service, diagnosis_id))


@router.delete(
    "/{diagnosis_id}",
    operation_id="delete_diagnosis",
    status_code=204,
    responses=problems(401, 403, 404),
)
async def delete(http: Request, diagnosis_id: DiagnosisId, service: TheService) -> None:
    """Forget the diagnosis and the script; a run that is under way ends. Only its sender may: from
    the same address, with the same API key, or with the `X-Delete-Token` that answered the POST."""
    await found(service, diagnosis_id)
    await service.discard(http, diagnosis_id)
