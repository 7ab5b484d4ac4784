"""Repairs of a small script put to the verifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analyzers.request.causes import Candidate
from analyzers.source.project import Project
from app.repair.original import Original
from app.repair.search import try_out
from app.repair.tested_candidate import TestedCandidate
from app.request.reader import InlineReader
from app.run.outcome import may_differentiate
from app.run.verifying_session import VerifyingSession
from sandbox.protocol import Job, Session


async def judge(
    files: Mapping[str, str],
    entry: str,
    patched: Sequence[Mapping[str, str]],
    session: Session,
    time_limit_s: float = 20.0,
) -> list[TestedCandidate]:
    """Put repairs to the product's own search as if it had found them; all of them, best first.

    `patched` holds, for each repair, the files that it changes; a trial's repair is
    `trial.candidate.files`.
    """
    job = Job(
        files=dict(files),
        entry=entry,
        gradients=True,
        gradcheck=may_differentiate(files),
        time_limit_s=time_limit_s,
    )
    session = VerifyingSession(session, Project(files, entry), InlineReader())
    original = Original(files, entry, await session.run(job), session, time_limit_s)
    given = [
        Candidate("", f"given {n}", "A repair", dict(texts), "", 0)
        for n, texts in enumerate(patched, 1)
    ]
    try:
        return await try_out(original, [given], every=True)
    finally:
        original.close()


async def judged(session: Session, script: str, *repairs: tuple[str, str]) -> list[TestedCandidate]:
    """Each repair replaces some text of the script; the trials come best first."""
    texts = [script.replace(old, new) for old, new in repairs]
    assert all(text != script for text in texts)
    return await judge({"train.py": script}, "train.py", [{"train.py": t} for t in texts], session)


def given(trials: Sequence[TestedCandidate]) -> list[int]:
    """Which repairs these are, counted from 1 as they were given."""
    return [int(trial.candidate.strategy.split()[1]) for trial in trials]


def check(trial: TestedCandidate, name: str) -> str:
    """The status of the check of this name."""
    return next(check.status for check in trial.checks if check.name == name)
