"""What a verification found: whether a change keeps the training the same. Part of the contract."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from app.schema_types import CheckName
from app.schemas import ApiModel

Sameness = Literal["same", "truncated", "changed", "breaks", "not_comparable"]
"""`same`: every step that was compared is the same. `truncated`: gradients equal those of the
original with what lies behind an earlier backward held constant. `changed`: the training is another
one. `breaks`: the changed script raises, or something stops learning. `not_comparable`: nothing can
be said; the summary has the reason."""

ComparisonName = Literal["control", "plain", "held", "double"] | CheckName
ComparisonStatus = Literal["passed", "failed", "differs", "not_run"]


class Witness(ApiModel):
    """The first thing that differs. `step` counts from 1, 0 is before the first and None at the
    end of the run; `last_equal_step` is set if steps between it and `step` were not compared: the
    versions may part at any of these. `difference` is a share of the norm, None where it is no
    number. The lines are those of the first loss that differs, else of the step."""

    step: int | None = None
    last_equal_step: int | None = None
    parameter: str = Field("", description="as the original names it; empty: no single one")
    what: str = Field(description="what is different about it, in words")
    difference: float | None = None
    line_before: int | None = None
    line_after: int | None = None
    file_before: str = ""
    file_after: str = ""
    code_before: str = ""
    code_after: str = ""
    loss_before: float | None = None
    loss_after: float | None = None


class ComparisonCheck(ApiModel):
    """One question that was asked. `differs`: compared, and not equal. `not_run`: nothing was
    compared."""

    name: ComparisonName
    status: ComparisonStatus
    detail: str = ""


class Verdict(ApiModel):
    """The answer to "does this change keep the training the same?"."""

    verdict: Sameness
    summary: str = Field(description="one sentence")
    witness: Witness | None = None
    steps_compared: int = 0
    steps_equal: int = Field(0, description="of those, how many before the first that differs")
    notes: list[str] = Field([])
    checks: list[ComparisonCheck] = Field([])
