"""A diagnosis in short: for agents, chat and the command line."""

from __future__ import annotations

from pydantic import BaseModel

from app.schema_types import Level, Status, Verdict, Verified
from app.schemas import Diagnosis, Effect, NextStep


class BriefCause(BaseModel):
    """Where to look first; `name` is the tensor, as the script spells it."""

    id: str
    pattern: str
    file: str
    line: int
    name: str | None = None


class BriefPatch(BaseModel):
    """The best fix that failed no check; `status` says whether it was tested."""

    diff: str
    status: Verified
    level: Level
    effect: Effect | None = None


class BriefDiagnosis(BaseModel):
    """What `?view=brief` answers."""

    id: str
    url: str
    status: Status
    verdict: Verdict | None = None
    summary: str = ""
    fix: str = ""
    cause: BriefCause | None = None
    patch: BriefPatch | None = None
    next: list[NextStep] = []
    notes: list[str] = []


def brief_of(diagnosis: Diagnosis) -> BriefDiagnosis:
    """Return the first cause, the first fix, and the first step that would settle the rest."""
    cause = diagnosis.causes[0] if diagnosis.causes else None
    patch = next((p for p in diagnosis.patches if p.verification.status != "failed"), None)
    return BriefDiagnosis(
        id=diagnosis.id,
        url=diagnosis.url,
        status=diagnosis.status,
        verdict=diagnosis.verdict,
        summary=diagnosis.summary,
        fix=diagnosis.fix,
        notes=diagnosis.notes,
        cause=BriefCause(
            id=cause.id,
            pattern=cause.pattern,
            file=cause.location.file,
            line=cause.location.line,
            name=cause.carrier.name if cause.carrier else None,
        )
        if cause
        else None,
        patch=BriefPatch(
            diff=patch.diff,
            status=patch.verification.status,
            level=patch.level,
            effect=patch.effect,
        )
        if patch
        else None,
        next=diagnosis.next[:1],
    )
