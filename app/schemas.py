"""The values of the HTTP contract, v1. Names here are frozen: add freely, rename or drop none."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.schema_types import (
    Basis,
    CheckName,
    CheckStatus,
    ChosenTorch,
    Family,
    Gradients,
    Level,
    Status,
    Verdict,
    Verified,
)


class ApiModel(BaseModel):
    """A value of the contract. Its validator is built at first use: commands start sooner."""

    model_config = ConfigDict(defer_build=True)


class SourceFile(ApiModel):
    """A further file of the project; `path` is relative. Data files are sent as `base64`."""

    path: str = Field(max_length=255)
    content: str
    encoding: Literal["utf-8", "base64"] = "utf-8"


class DiagnosisRequest(ApiModel):
    """What a client sends. Limits in bytes are checked by `app.request.intake`, by field."""

    model_config = ConfigDict(extra="forbid")

    script: str = ""
    filename: str = Field("train.py", max_length=255)
    files: list[SourceFile] = Field([], max_length=64)
    traceback: str = ""
    run: Literal["auto", "never"] = "auto"
    trace: str = ""
    time_limit_s: float = Field(20, ge=1, le=60)
    args: list[Annotated[str, Field(max_length=1000)]] = Field([], max_length=64)
    module: str | None = Field(None, max_length=255, description="run as `python -m module`")
    target: str | None = Field(
        None, max_length=300, description="where a fix should go by preference: `train.py:41`"
    )
    torch: ChosenTorch = None


class Location(ApiModel):
    """A place in the source, with its line's text. `cell` names it in a notebook."""

    file: str
    line: int
    end_line: int | None = None
    code: str = ""
    column: int | None = Field(None, description="from 1, where it is known")
    cell: str | None = Field(None, description="`cell 4, line 3`")


class Event(Location):
    """Something that happened there: to a graph, or to a value that a graph needs."""

    iteration: int | None = None
    op: str | None = None


class Carrier(ApiModel):
    """The name that carried the old graph, as the script spells it."""

    name: str
    file: str
    line: int
    kind: str = "local"


class Boundary(ApiModel):
    """What the carrier crossed."""

    kind: Literal["loop", "epoch", "call", "cell", "none"] = "none"
    file: str = ""
    line: int = 0


class Cause(ApiModel):
    id: str = Field("", description="the pattern's stable id: `GM011`")
    pattern: str
    title: str
    engine: Literal["torch", "custom"] = "torch"
    confidence: float = Field(ge=0, le=1)
    source: Literal["trace", "reading", "both"]
    location: Location
    carrier: Carrier | None = None
    parameters: list[str] = []
    by_message: bool = Field(
        False, description="the error's message shows it, not the record of a graph"
    )
    created: Event | None = None
    freed_by: Event | None = None
    reached_again_by: Event | None = None
    boundary: Boundary | None = None
    explanation: str
    remedy: str = Field("", description="what to do, in a sentence, where that is known")
    learn_more: str


class Check(ApiModel):
    name: CheckName
    status: CheckStatus
    detail: str = ""


class Verification(ApiModel):
    status: Verified
    checks: list[Check] = []


class Effect(ApiModel):
    """What a patch does to the training, as it was measured at fixed parameters: its gradients
    against those of the original with every graph kept (`kept`), or with what an earlier backward
    has run through, or what `autograd.grad` returns, taken as constant (`truncated`); its
    backward calls, clears and steps against the original's."""

    against: Literal["kept", "truncated", "none"] = "none"
    steps_equal: int = 0
    steps_compared: int = 0
    worst: float = Field(0.0, description="largest difference, relative to a gradient's norm")
    schedule: Literal["same", "moved", "fewer", "more", "unknown"] = "unknown"
    text: str = ""
    intended: str = Field(
        "", description="what other gradients are for, if the original's are the fault"
    )


class PatchedFile(ApiModel):
    path: str
    content: str


class Patch(ApiModel):
    n: int
    strategy: str
    title: str
    diff: str
    script: str
    snippet: str
    edit: str = Field("", description="what the diff does: `add one line before line 10`")
    files: list[PatchedFile] = []
    gradients: Gradients
    level: Level = "display_only"
    level_reason: str = ""
    tradeoff: str = ""
    effect: Effect | None = None
    verification: Verification


class ErrorFrame(Location):
    function: str = ""


class ErrorReport(ApiModel):
    """The error, from the traceback given, else from the run."""

    family: Family
    pattern_hint: str | None = None
    exception: str
    message: str
    location: Location | None = None
    frames: list[ErrorFrame] = []


class SandboxReport(ApiModel):
    backend: str
    walls: list[str] = []


class NonFiniteLoss(Location):
    """The first loss that was no finite number: `value` is NaN, inf or -inf, `before` the last
    finite ones of that line."""

    value: str
    iteration: int
    before: list[float] = []


class RunReport(ApiModel):
    status: Literal[
        "reproduced", "ran_clean", "other_error", "timed_out", "limit_hit", "unavailable"
    ]
    exception: str | None = None
    stdout_tail: str = ""
    stderr_tail: str = ""
    duration_s: float = 0.0
    backward_calls: int = 0
    stopped: bool = Field(False, description="whether it was ended when enough of it was seen")
    peak_memory_mib: float = 0.0
    checks: list[Check] = Field([], description="what a healthy run shows of its own training")
    stand_ins: list[str] = []
    tampered: list[str] = []
    non_finite_loss: NonFiniteLoss | None = None
    sandbox: SandboxReport | None = None


class Environment(ApiModel):
    """What a script ran with. `torch` is null where nothing was run; then `python` is what read it.
    `packages`: versions of what the sources import besides."""

    torch: str | None = None
    python: str = ""
    platform: str = ""
    packages: dict[str, str] = {}


class Assumption(ApiModel):
    """Something that was assumed so that a part of a program could run."""

    kind: Literal["import", "package", "file", "argument", "name", "api", "indentation"]
    name: str
    text: str


class NextStep(ApiModel):
    """What would settle what is still open; `value` can be copied or sent in `field`."""

    kind: Literal["arguments", "file", "package", "input", "run_local", "version", "lines"]
    text: str
    field: str | None = None
    value: str | None = None


class MessageHelp(ApiModel):
    """What is known of the error's message, where no patch has passed: `message` is its id in the
    catalogue, `text` the likeliest cause with its remedy, `location` the line that shows it."""

    message: str
    means: str
    text: str
    location: Location | None = None
    page: str


class Timings(ApiModel):
    read: float = 0.0
    queue: float = 0.0
    reproduce: float = 0.0
    verify: float = 0.0
    total: float = 0.0


class BaseFindings(ApiModel):
    """What every kind of request comes to: a verdict, a sentence, and how long it took."""

    verdict: str | None = None
    summary: str = ""
    timings_ms: Timings = Timings()


class Findings(BaseFindings):
    """What a diagnosis found: everything but its identity and state."""

    verdict: Verdict | None = None
    error: ErrorReport | None = None
    answer: MessageHelp | None = None
    fix: str = ""
    causes: list[Cause] = []
    patches: list[Patch] = []
    run: RunReport | None = None
    truncated: list[str] = []
    basis: Basis | None = None
    world: list[Assumption] = []
    next: list[NextStep] = []
    notes: list[str] = []
    environment: Environment | None = None


class Identified(ApiModel):
    """What every stored result has: an unguessable id, its page's address, its state."""

    id: str
    url: str
    created_at: datetime
    expires_at: datetime
    status: Status


class Diagnosis(Findings, Identified):
    """A diagnosis, so far or finished."""
