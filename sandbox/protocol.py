"""Define what the service requests from a sandbox, and what it gets back."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

from pydantic import ConfigDict, Field

from provenance import Count
from sandbox.records import HarnessPlan, LazyModel, Silent, Trace

Mode = Literal["plain", "trace", "inplace"]
Reference = Literal["kept", "truncated", "differentiated", "constant_targets"]
RunStatus = Literal["finished", "stopped", "raised", "timed_out", "limit_hit", "unavailable"]


class WantedError(LazyModel):
    """The error that a harness should reproduce: its message and family, and the lines of the entry
    that its frames named.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    message: str = Field("", max_length=4000)
    family: str = ""
    lines: list[int] = Field([], max_length=64)


class HarnessRequest(LazyModel):
    """How the entry is completed: by the plan of an earlier run or, without one, by the plan that
    comes nearest to the wanted error. `onward`: start from the plan; the script has been patched
    and should run through.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    plan: HarnessPlan | None = None
    wanted: WantedError = WantedError()
    onward: bool = False


class Job(LazyModel):
    """One run of a project behind the walls.

    `mode`: `plain` runs the script untouched, `trace` records autograd evidence, `inplace` is a
    slower run that also records which line changed which tensor. `reference` keeps every graph and
    turns `optimizer.step()` into a no-op, so that the gradients of the script's own mathematics can
    be read even if the script fails; `truncated` treats what an earlier backward call reached as
    constant, `constant_targets` the targets that torch's losses receive. Such runs, and those with
    `frozen_steps`, draw common random numbers, so they can be compared step by step. `keep_graphs`
    keeps every graph but lets the optimizers step; `freeing` frees those that the script retains.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: dict[str, str] = Field(description="relative path → text; the run's working directory")
    data: dict[str, str] = Field({}, description="relative path → base64 of a file that is no text")
    entry: str = "train.py"
    argv: list[str] = Field([])
    module: str | None = Field(None, description="run the entry as `python -m module`")
    spans: list[tuple[int, int]] = Field(
        [],
        max_length=4096,
        description="first and last lines (from 1) of the parts of the entry that are run, in "
        "this order and as often as they are listed; empty: the whole, once",
    )
    harness: HarnessRequest | None = Field(
        None, description="run the entry as a part of a program, with what it lacks synthesized"
    )
    mode: Mode = "trace"
    follow: list[tuple[Count, Count]] = Field(
        [], max_length=16, description="nodes to follow line by line: `NodeAt.number`, output"
    )
    freed: Count = Field(0, description="the call that freed what is followed")
    reference: Reference | None = None
    keep_graphs: bool = False
    freeing: list[tuple[str, Count]] = Field(
        [], max_length=16, description="lines whose backward calls keep no graph, whatever they say"
    )
    frozen_steps: bool = Field(False, description="optimizers record gradients but change nothing")
    unmoved: list[Count] = Field(
        [], max_length=4096, description="parameters that fixed steps leave where they begin"
    )
    own_random: bool = Field(
        False, description="steps held fixed, or a reference: random numbers are the script's own"
    )
    state: bool = Field(
        False, description="record settings, values, buffers and random state at each step, too"
    )
    other_set_order: bool = Field(
        False, description="iterate over sets of texts in another order, as other interpreters may"
    )
    double: bool = Field(False, description="compute in double precision, with autocast off")
    gradcheck: bool = Field(
        False, description="at the end, compare the script's own Functions with numerical gradients"
    )
    gradients: bool = Field(False, description="record a fingerprint of gradients at every step")
    stop_after_backwards: int | None = Field(
        None, ge=1, description="end the run, successfully, after so many backward calls"
    )
    stop_after_steps: int | None = Field(
        None,
        ge=1,
        description="end the run, successfully, at the first backward call after so "
        "many steps; of a script without optimizers, after so many backward calls",
    )
    stop_after_s: float | None = Field(
        None, gt=0, description="…or after so many seconds from the first step on"
    )
    patience_s: float = Field(
        0.0, ge=0, description="…but only once so many seconds of the run have passed"
    )
    follow_s: float | None = Field(
        None, gt=0, description="end the run, as finished, after so long without anything new"
    )
    time_limit_s: float = Field(20.0, gt=0, le=86400)
    memory_mib: int = Field(2048, ge=64)
    output_bytes: int = Field(65536, ge=1024)


class RaisedFrame(LazyModel):
    file: str
    line: int
    function: str = ""
    code: str = ""


class Raised(LazyModel):
    """The exception that ended a run. `frames` are outermost first and include library frames."""

    type: str
    message: str
    frames: list[RaisedFrame] = Field([])
    traceback: str = ""


class RunResult(LazyModel):
    """What a run did, as far as the host can confirm it.

    `finished`: ended by itself. `stopped`: `stop_after_backwards` or `follow_s` was reached.
    `raised`: ended with an exception. `timed_out`, `limit_hit`: a wall ended it (`limit` says
    which). `unavailable`: nothing ran; `reason` says why.
    """

    status: RunStatus
    exit_code: int | None = None
    limit: str | None = Field(
        None, description="memory, processes, sockets, output, disk, records, cpu"
    )
    reason: str | None = None
    raised: Raised | None = None
    trace: Trace | None = None
    stdout_tail: str = ""
    stderr_tail: str = ""
    duration_s: float = 0.0
    waited_s: float = Field(0.0, description="of the duration, for a processor to be free")
    peak_memory_mib: float = 0.0
    tampered: list[str] = Field([], description="what the script did to the instruments, if seen")
    backend: str = ""
    walls: list[str] = Field([])
    dismissed: list[Silent] = Field([], description="in the trace; reading finds no such fault")
    doubted: list[Silent] = Field([], description="doubtful, and reading finds no such fault")

    @property
    def ran_s(self) -> float:
        """Return the duration without the time during which other processes had the processors."""
        return max(0.0, self.duration_s - self.waited_s)


class Readiness(LazyModel):
    """`ready` is false when a wall could not be raised; then nothing is ever run."""

    ready: bool
    backend: str
    walls: list[str] = Field([])
    reason: str | None = None
    environment: dict[str, str] = Field({}, description="`torch`, `python`, `platform` of runs")


class Session(Protocol):
    """Runs jobs that belong together. Cancelling the awaiting task ends the run."""

    async def run(self, job: Job) -> RunResult: ...


class Sandbox(Session, Protocol):
    """One place to run jobs, each by itself or several in a session."""

    def session(self) -> AbstractAsyncContextManager[Session]:
        """Return a session for the runs of one request. They may share what is expensive to set up,
        and no other request may.

        Each run finds everything as if it were the first.
        """

    async def readiness(self) -> Readiness: ...

    async def close(self) -> None: ...
