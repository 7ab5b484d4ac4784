"""The values of the HTTP contract that are about changes: `POST /v1/verifications`."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from app.schema_types import ChosenTorch
from app.schemas import (
    ApiModel,
    BaseFindings,
    DiagnosisRequest,
    Environment,
    Identified,
    Patch,
    SourceFile,
)
from app.verdict import ComparisonCheck, Sameness, Witness

MOST_STEPS = 10_000

Arguments = Annotated[
    list[Annotated[str, Field(max_length=1000)]],
    Field(max_length=64, description="the script's command-line arguments, for both versions"),
]
Files = Annotated[list[SourceFile], Field(max_length=64)]


class VerificationRequest(ApiModel):
    """What a client sends: the version before, and the version after or a patch that leads to it.

    With `diagnosis`, the version before is the script that was sent for that diagnosis.
    """

    model_config = ConfigDict(extra="forbid")

    before: str = Field("", description="the script before the change (Python, or a notebook)")
    after: str = Field("", description="the script after the change")
    patch: str = Field("", description="instead of `after`: a unified diff against `before`")
    files_before: Files = Field([], description="further files of the project, before the change")
    files_after: Files = Field(
        [], description="files that the change replaces or adds; the others stay as before"
    )
    files_removed: list[Annotated[str, Field(max_length=255)]] = Field(
        [], max_length=64, description="paths of further files that the change removes"
    )
    diagnosis: str | None = Field(
        None, max_length=64, description="instead of `before`: the id of a diagnosis of it"
    )
    traceback: str = Field("", description="the error that `before` raises, if it does")
    args: Arguments = Field([])
    filename: str = Field("train.py", max_length=255, description="what the script is called")
    filename_after: str | None = Field(
        None, max_length=255, description="what the changed script is called, if its name changes"
    )
    module: str | None = Field(None, max_length=255, description="run as `python -m module`")
    time_limit_s: float = Field(20, ge=1, le=60, description="seconds that one run may take")
    steps: int | None = Field(
        None, ge=1, le=MOST_STEPS, description="stop both after so many optimizer steps"
    )
    torch: ChosenTorch = None


class ProjectVersion(ApiModel):
    """One version of a project: the script that is started, and the files it needs."""

    filename: str
    script: str
    files: list[SourceFile] = Field([])

    @classmethod
    def of(cls, request: DiagnosisRequest) -> ProjectVersion:
        """Return what is sent for a diagnosis as a version of a project."""
        return cls(filename=request.filename, script=request.script, files=request.files)


class ChangeRequest(ApiModel):
    """A verification as it is stored and worked on: both versions are complete."""

    before: ProjectVersion
    after: ProjectVersion
    traceback: str = ""
    args: list[str] = Field([])
    module: str | None = None
    time_limit_s: float = 20
    steps: int | None = None
    torch: str | None = None
    diagnosis: str | None = None


class ChangeFindings(BaseFindings):
    """What a change does to the training: everything but the verification's identity."""

    verdict: Sameness | None = None
    witness: Witness | None = None
    steps_compared: int = 0
    steps_equal: int = Field(0, description="steps that are equal, before the first that differs")
    notes: list[str] = Field([])
    checks: list[ComparisonCheck] = Field([])
    better: Patch | None = Field(
        None, description="a fix of ours for the same script that keeps more of the training"
    )
    environment: Environment | None = None


class ChangeVerification(ChangeFindings, Identified):
    """A verification, so far or finished."""
