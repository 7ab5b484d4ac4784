"""Repairs of a small script put to the verifier."""

from __future__ import annotations

from collections.abc import Sequence

from app.repair.contest import judge
from app.repair.verify import Trial
from sandbox.protocol import Session


async def judged(session: Session, script: str, *repairs: tuple[str, str]) -> list[Trial]:
    """Each repair replaces some text of the script; the trials come best first."""
    texts = [script.replace(old, new) for old, new in repairs]
    assert all(text != script for text in texts)
    return await judge({"train.py": script}, "train.py", [{"train.py": t} for t in texts], session)


def given(trials: Sequence[Trial]) -> list[int]:
    """Which repairs these are, counted from 1 as they were given."""
    return [int(trial.candidate.strategy.split()[1]) for trial in trials]


def check(trial: Trial, name: str) -> str:
    """The status of the check of this name."""
    return next(check.status for check in trial.checks if check.name == name)
