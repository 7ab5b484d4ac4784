"""Hold what a run of the original showed, before any patch is tried."""

from __future__ import annotations

from dataclasses import dataclass, replace

from analyzers.evidence import Evidence
from analyzers.notebooks.replay import repeated
from analyzers.source.project import Project
from app.request.case import Case
from app.run.completion import HarnessSession
from app.run.outcome import len_backwards
from app.run.replay import CellOrderSession
from sandbox.protocol import RunResult, Session
from sandbox.records import HarnessPlan, Trace

FOLLOWED = 10  # backward calls: graphs and steps are looked at up to the seventh


@dataclass(frozen=True)
class Observation:
    """What is known before any patch is tried. `run` is None if nothing was run; `why_not` says
    why.

    `order`: the order of a notebook's cells that showed the error; empty means top to bottom.
    `idle`: the run ended by itself without a backward call, so it shows nothing about graphs.
    `at_call`: the error that was given comes at a call of `torch.func`, not at a backward call.
    `plan`: the harness in which incomplete code was run.
    """

    run: RunResult | None
    trace: Trace | None
    evidence: tuple[Evidence, ...]
    why_not: str = ""
    order: tuple[int, ...] = ()
    idle: bool = False
    at_call: bool = False
    plan: HarnessPlan | None = None

    @property
    def from_run(self) -> bool:
        """Return True if the evidence was observed, here or by the user's own traced run."""
        return any(piece.how != "predicted" for piece in self.evidence)

    @property
    def ran_clean(self) -> bool:
        """Return True if the script ran here without an exception, to its end or for as long as
        training is followed, and came to where the error may show, or showed a silent fault.
        """
        if self.run is None or self.run.status not in ("finished", "stopped") or self.idle:
            return False
        return self.at_call or len_backwards(self.run) > 0 or self.from_run

    @property
    def followed(self) -> bool:
        """Return True if the time limit ended a run after many backward calls, all of them clean:
        the training takes longer than the time limit.
        """
        return self.plan is None and not self.evidence and went_on(self.run)


def went_on(run: RunResult | None) -> bool:
    """Return True if only the time limit ended the run, after more backward calls than any fault
    needs to show.
    """
    return run is not None and run.status == "timed_out" and len_backwards(run) >= FOLLOWED


def as_observed(session: Session | None, case: Case, seen: Observation) -> Session | None:
    """Return a session that runs as the observation did: a notebook's cells in the order that
    showed the error, incomplete code in its harness.
    """
    if session is not None and seen.plan is not None:
        return HarnessSession(session, seen.plan)
    if session is None or case.notebook is None or not seen.order:
        return session
    return CellOrderSession(session, case.notebook, seen.order)


def project_of(case: Case, seen: Observation) -> Project:
    """Return the project, with the notebook cells that the run repeated marked as run again."""
    if seen.run is None or case.notebook is None:
        return case.project
    return replace(case.project, rerun=repeated(seen.order))


def is_suspected(case: Case, seen: Observation) -> bool:
    """Return True if the evidence only says what would explain the error."""
    return not seen.from_run and bool(case.reading.suspected)
