"""What the service is asked for: diagnoses, and verifications of changes. Each kind of request is
stored, queued and answered in the same way; this says which values it consists of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel

from app.change_schemas import ChangeFindings, ChangeRequest, ChangeVerification
from app.schemas import BaseFindings, Diagnosis, DiagnosisRequest, Findings, Identified

Asked = TypeVar("Asked", bound=BaseModel)
Found = TypeVar("Found", bound=BaseFindings)
Answer = TypeVar("Answer", bound=Identified)


@dataclass(frozen=True)
class RequestKind(Generic[Asked, Found, Answer]):
    """`request` is stored, `findings` is what the work comes to, `answer` is both with its id.

    `page` and `api` are where answers are found; `failed` is the verdict where the work failed.
    """

    name: str
    request: type[Asked]
    findings: type[Found]
    answer: type[Answer]
    page: str
    api: str
    failed: str


DIAGNOSIS = RequestKind(
    "diagnosis",
    DiagnosisRequest,
    Findings,
    Diagnosis,
    page="/d/",
    api="/v1/diagnoses/",
    failed="inconclusive",
)
VERIFICATION = RequestKind(
    "verification",
    ChangeRequest,
    ChangeFindings,
    ChangeVerification,
    page="/v/",
    api="/v1/verifications/",
    failed="not_comparable",
)
KINDS: dict[str, RequestKind[Any, Any, Any]] = {
    kind.name: kind for kind in (DIAGNOSIS, VERIFICATION)
}


def kind_of(request: BaseModel) -> RequestKind[Any, Any, Any]:
    """Return the kind that a request belongs to."""
    return next(kind for kind in KINDS.values() if isinstance(request, kind.request))


def stored_events(found: BaseFindings) -> Iterable[tuple[Literal["cause", "patch"], BaseModel]]:
    """Return the events that stored findings still have for those who follow the request."""
    if isinstance(found, Findings):
        yield from (("cause", cause) for cause in found.causes)
        yield from (("patch", patch) for patch in found.patches)
