"""Define the words of the HTTP contract: verdicts, checks, levels."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

Status = Literal["queued", "running", "done", "failed"]
Verdict = Literal["confirmed", "likely", "healthy", "unreproduced", "inconclusive"]
Family = Literal["graph-reuse", "inplace", "no-grad", "silent", "engine", "other"]
Basis = Literal["run", "completed", "trace", "reading", "traceback"]
CheckName = Literal[
    "reproduced",
    "runs",
    "learns",
    "same_gradient",
    "schedule",
    "covered",
    "fresh",
    "bounded",
    "minimal",
    "gradcheck",
    "no_other_fault",
]
CheckStatus = Literal["passed", "failed", "differs", "not_run"]
"""`differs`: compared, and not equal. `not_run`: nothing was compared."""
Verified = Literal["passed", "failed", "not_run"]
Gradients = Literal["same", "truncated", "changed", "unknown"]
Level = Literal["safe", "unsafe", "display_only"]
"""How far a fix may be applied without being read; `app.present.levels` derives it."""
ChosenTorch = Annotated[
    str | None,
    Field(
        max_length=32,
        description="the version of torch to run with, of those that `/readyz` lists; null: the "
        "service's own",
    ),
]
MEANT_TO_DIFFER = "a straight-through estimator, a surrogate gradient, a gradient reversal"
"""Functions whose backward is no derivative on purpose."""
TARGETS_HELD = "with the targets of its losses held constant"
"""What an effect's text says of a fix that leaves the gradients the same but for that."""
