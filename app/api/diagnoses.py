"""Asking for a diagnosis, reading it, deleting it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response

from app.api.asking import FILE_PARTS, MARKDOWN_TOO, TEXT_PART, WAIT, answered, document
from app.api.common import DiagnosisId, TheService, found, problems, with_address
from app.api.responses import View, answer
from app.present.brief import BriefDiagnosis
from app.request.intake import read_request
from app.schemas import Diagnosis
from app.store.request_kinds import DIAGNOSIS

router = APIRouter(prefix="/v1/diagnoses", tags=["diagnoses"])

EXAMPLE = {
    "script": "import torch\nw = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\n"
    "loss.backward()\nloss.backward()\n",
    "filename": "train.py",
}
_FORM = {
    "type": "object",
    "title": "DiagnosisForm",
    "properties": {
        "script": TEXT_PART,
        "traceback": TEXT_PART,
        "filename": {"type": "string", "maxLength": 255},
        "files": FILE_PARTS,
        "args": {"type": "array", "items": {"type": "string"}, "maxItems": 64},
        "module": {"type": "string", "maxLength": 255},
        "run": {"type": "string", "enum": ["auto", "never"], "default": "auto"},
        "time_limit_s": {"type": "number", "minimum": 1, "maximum": 60, "default": 20},
        "torch": {"type": "string", "maxLength": 32},
    },
}
Answer = Diagnosis | BriefDiagnosis


@router.post(
    "",
    operation_id="diagnose",
    response_model=Answer,
    openapi_extra=document("DiagnosisRequest", _FORM, EXAMPLE, "diagnosis"),
    responses={
        200: MARKDOWN_TOO,
        202: {"model": Answer, **MARKDOWN_TOO},
        **problems(400, 401, 403, 413, 415, 422, 429, 503),
    },
)
async def diagnose(
    http: Request,
    service: TheService,
    wait: Annotated[float, WAIT] = 4,
    view: View = "full",
) -> Response:
    """Diagnose a script: 200 with the result, or 202 with what is known when `wait` is over."""
    request = await read_request(http, service.parser)
    diagnosis_id = await service.accept(http, request)
    return await answered(http, service, diagnosis_id, DIAGNOSIS, wait, view)


@router.get(
    "/{diagnosis_id}",
    operation_id="read_diagnosis",
    response_model=Answer,
    responses={200: MARKDOWN_TOO, 304: {"description": "Not changed"}, **problems(404, 422)},
)
async def read(
    http: Request, diagnosis_id: DiagnosisId, service: TheService, view: View = "full"
) -> Response:
    """The diagnosis; while it runs, what is known so far. `Accept: text/markdown` answers with
    a few lines for people."""
    diagnosis = with_address(http, service, await found(service, diagnosis_id))
    return answer(http, diagnosis, view)


@router.post(
    "/{diagnosis_id}/keep",
    operation_id="keep_diagnosis",
    response_model=Diagnosis,
    responses=problems(401, 403, 404, 422),
)
async def keep(http: Request, diagnosis_id: DiagnosisId, service: TheService) -> Response:
    """Keep the diagnosis until it is deleted, where this service does that. Only its sender may,
    as with `DELETE`."""
    await found(service, diagnosis_id)
    await service.keep(http, diagnosis_id)
    return answer(http, with_address(http, service, await found(service, diagnosis_id)), "full")


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
