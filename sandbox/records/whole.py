"""Record how a run began and ended, and combine all its records."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from provenance import CodeLine, Count, Text
from sandbox.records.base import LazyModel, Record
from sandbox.records.carried import Path
from sandbox.records.faults import Inplace, Missing, Reuse, Silent
from sandbox.records.harness import Assumed, Needs, Planned, Stub
from sandbox.records.training import Backward, Final, NonFinite, Parameter, Precision, Step

VERSION = 1


class RunStart(Record):
    t: Literal["start"]
    v: Literal[1]
    torch: Text = ""
    python: Text = ""
    platform: Text = ""
    stamps: Text = Field("", description="how nodes get their line: anomaly, lines, none")


class FailedAt(Record):
    """A frame of a traceback, the user's or a `library`'s; `code` is its source line."""

    file: Text
    line: Count
    function: Text = ""
    code: Text = ""
    library: bool = False


class Failed(Record):
    """The exception that ended the script. `frames` are outermost first, `parameters` those that
    it speaks of by number."""

    t: Literal["raised"]
    type: Text
    message: Annotated[str, Field(max_length=4000)] = ""
    frames: list[FailedAt] = Field([], max_length=64)
    parameters: list[Text] = Field([], max_length=64)


class RunEnd(Record):
    t: Literal["end"]
    reason: Literal["finished", "stopped", "raised"]
    backwards: Count = 0
    examined: Count = Field(0, description="backward calls that were examined closely")
    steps: Count = 0
    truncated: list[Text] = Field([], max_length=16)
    tampered: list[Text] = Field([], max_length=16)
    targets_with_graph: bool = Field(False, description="a loss was given a target with a graph")
    constant_terms: bool = Field(False, description="terms of losses had no graph, or were numbers")
    constant_at: list[CodeLine] = Field([], max_length=8, description="the sums that have them")
    packages: dict[Text, Text] = Field({}, max_length=64, description="name → version")
    records: Count | None = Field(None, description="how many were written, this one included")


class Gradcheck(Record):
    """How the gradients of one of the script's own Functions compare with numerical ones: `input`
    is the first argument of its forward for which they differ. Its methods are at `at` to
    `end_line`."""

    t: Literal["gradcheck"]
    function: Text
    at: CodeLine
    end_line: Count = 0
    outcome: Literal["same", "differs", "unknown"]
    input: Text = ""
    text: Text = ""


class Trace(LazyModel):
    """All records of one run, validated. Counted rather than complete where a bound was met."""

    started: RunStart | None = None
    parameters: list[Parameter] = Field([])
    backwards: list[Backward] = Field([])
    steps: list[Step] = Field([])
    reuse: Reuse | None = None
    path: Path | None = None
    inplace: Inplace | None = None
    missing: Missing | None = None
    failed: Failed | None = None
    silent: list[Silent] = Field([])
    stubs: list[Stub] = Field([])
    needs: list[Needs] = Field([])
    assumed: list[Assumed] = Field([])
    plan: Planned | None = None
    final: Final | None = None
    precision: Precision | None = None
    non_finite: NonFinite | None = None
    gradchecks: list[Gradcheck] = Field([])
    ended: RunEnd | None = None
    rejected: int = Field(0, description="lines that were not valid records")
    truncated: bool = False
