"""How far a second, slower run is followed."""

from __future__ import annotations

from typing import Literal

import pytest

from analyzers.evidence import Reading
from analyzers.source.project import Project
from app.request.case import Case
from app.run.tracing import LONGER, SHORT, traced
from sandbox.protocol import Job, RunResult, Session
from sandbox.records import RunEnd, Trace

LIMIT_S = 20.0
CASE = Case(Project({"train.py": "pass\n"}, "train.py"), None, Reading(), LIMIT_S)
NO_GRAPH = Trace(ended=RunEnd(t="end", reason="finished", constant_terms=True))


class Answering(Session):
    """A session whose runs all end in one way; `jobs` are those that it was given."""

    def __init__(self, status: Literal["finished", "stopped"]) -> None:
        self.jobs: list[Job] = []
        self._status = status

    async def run(self, job: Job) -> RunResult:
        self.jobs.append(job)
        return RunResult(status=self._status, trace=NO_GRAPH)


@pytest.mark.parametrize(("status", "share"), [("finished", LONGER), ("stopped", SHORT)])
async def test_a_second_run_is_followed_longer_if_the_first_ended_by_itself(
    status: Literal["finished", "stopped"], share: float
) -> None:
    session = Answering(status)
    await traced(CASE, session)
    followed = [(job.mode, job.follow_s) for job in session.jobs]
    assert followed == [("trace", SHORT * LIMIT_S), ("inplace", share * LIMIT_S)]
