"""Asking what a change does to the training, reading the verdict, deleting it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Request, Response
from sse_starlette import EventSourceResponse

from app.api.asking import FILE_PARTS, MARKDOWN_TOO, TEXT_PART, WAIT, answered, document
from app.api.common import RequestId, TheService, existing, problems, with_address
from app.api.responses import View, answer
from app.api.streams import followed
from app.change_schemas import ChangeVerification, VerificationRequest
from app.present.changes import BriefVerification
from app.request.intake import read_body
from app.store.request_kinds import VERIFICATION

router = APIRouter(prefix="/v1/verifications", tags=["verifications"])

_FORM = {
    "type": "object",
    "title": "VerificationForm",
    "properties": {
        **dict.fromkeys(("before", "after", "patch", "traceback"), TEXT_PART),
        "files_before": FILE_PARTS,
        "files_after": FILE_PARTS,
        "diagnosis": {"type": "string", "maxLength": 64},
        "args": {"type": "array", "items": {"type": "string"}, "maxItems": 64},
        "filename": {"type": "string", "maxLength": 255},
        "filename_after": {"type": "string", "maxLength": 255},
        "module": {"type": "string", "maxLength": 255},
        "time_limit_s": {"type": "number", "minimum": 1, "maximum": 60, "default": 20},
        "torch": {"type": "string", "maxLength": 32},
        "steps": {"type": "integer", "minimum": 1},
    },
}
EXAMPLE = {
    "before": "import torch\nw = torch.ones(2, requires_grad=True)\n"
    "opt = torch.optim.SGD([w], lr=0.1)\nfor _ in range(4):\n    opt.zero_grad()\n"
    "    (w * w).sum().backward()\n    opt.step()\n",
    "patch": "--- a/train.py\n+++ b/train.py\n@@ -3,1 +3,1 @@\n"
    "-opt = torch.optim.SGD([w], lr=0.1)\n+opt = torch.optim.SGD([w], lr=0.2)\n",
}
Answer = ChangeVerification | BriefVerification


@router.post(
    "",
    operation_id="verify",
    response_model=Answer,
    openapi_extra=document("VerificationRequest", _FORM, EXAMPLE, "verification"),
    responses={
        200: MARKDOWN_TOO,
        202: {"model": Answer, **MARKDOWN_TOO},
        **problems(400, 401, 403, 404, 413, 415, 422, 429, 503),
    },
)
async def verify(
    http: Request,
    service: TheService,
    wait: Annotated[float, WAIT] = 4,
    view: View = "full",
) -> Response:
    """Run both versions and compare their training step by step: 200 with the verdict, or 202 with
    what is known when `wait` is over."""
    sent = await read_body(http, service.parser, VerificationRequest)
    verification_id = await service.accept_change(http, sent)
    return await answered(http, service, verification_id, VERIFICATION, wait, view)


@router.get(
    "/{verification_id}",
    operation_id="read_verification",
    response_model=Answer,
    responses={200: MARKDOWN_TOO, 304: {"description": "Not changed"}, **problems(404, 422)},
)
async def read(
    http: Request, verification_id: RequestId, service: TheService, view: View = "full"
) -> Response:
    """The verification. `Accept: text/markdown` answers with a few lines for people."""
    result = await existing(service, verification_id, VERIFICATION)
    return answer(http, with_address(http, service, result), view)


@router.get(
    "/{verification_id}/events",
    operation_id="follow_verification",
    response_class=EventSourceResponse,
    responses={200: {"content": {"text/event-stream": {}}}, **problems(404)},
)
async def events(
    verification_id: RequestId,
    service: TheService,
    last_event_id: Annotated[str | None, Header(description="resume behind this event")] = None,
) -> EventSourceResponse:
    """`status`, `progress` and `done` events, from the first or resumed."""
    await existing(service, verification_id, VERIFICATION)
    return followed(service, verification_id, last_event_id)


@router.post(
    "/{verification_id}/keep",
    operation_id="keep_verification",
    response_model=ChangeVerification,
    responses=problems(401, 403, 404, 422),
)
async def keep(http: Request, verification_id: RequestId, service: TheService) -> Response:
    """Keep the verification until it is deleted, where this service does that. Only its sender
    may, as with `DELETE`."""
    await existing(service, verification_id, VERIFICATION)
    await service.keep(http, verification_id)
    result = await existing(service, verification_id, VERIFICATION)
    return answer(http, with_address(http, service, result), "full")


@router.delete(
    "/{verification_id}",
    operation_id="delete_verification",
    status_code=204,
    responses=problems(401, 403, 404),
)
async def delete(http: Request, verification_id: RequestId, service: TheService) -> None:
    """Forget the verification and both versions; a run that is under way ends. Only its sender
    may, as with a diagnosis."""
    await existing(service, verification_id, VERIFICATION)
    await service.discard(http, verification_id)
