"""Search among candidate patches: which to run, in what order, and which can no longer win."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from analyzers.request.causes import Candidate
from app.repair import checks
from app.repair.judging import OnPassed, run_plain, trial_of
from app.repair.original import Original
from app.repair.ranking import best_case
from app.repair.tested_candidate import TestedCandidate

Judged = Callable[[int, int], Awaitable[None]]
"""A callback with the number of judged candidates, and of all candidates."""
AT_ONCE = 2  # candidates under way: the first, and the one that follows if it does not settle it


async def try_out(
    original: Original,
    groups: Sequence[Sequence[Candidate]],
    *,
    every: bool = False,
    on_passed: OnPassed | None = None,
    judged: Judged | None = None,
) -> list[TestedCandidate]:
    """Run the candidates, those of the most certain cause first, until no remaining one could come
    before the best (or `every` one). Return the trials, best first. The best is run once more as
    the user will run it; if that fails, the search goes on.

    The result does not depend on how long runs take: a candidate counts only after all before it.
    """
    waiting = [
        PendingCandidate(turn, one, checks.changed_by(original.files, one.files))
        for turn, group in enumerate(groups)
        for one in group
    ]
    trials: list[TestedCandidate] = []
    proven: TestedCandidate | None = None
    try:
        while True:
            best = min(
                (t for t in trials if t.status == "passed"), key=attrgetter("merit"), default=None
            )
            hopeful = [e for e in waiting if every or best is None or e.may_come_before(best)]
            for entrant in waiting:
                if entrant not in hopeful:
                    entrant.withdraw()
            if hopeful:
                trial = await _first_of(hopeful, original)
                waiting.remove(hopeful[0])
                trials.append(trial)
                if judged is not None:
                    await judged(len(trials), len(trials) + len(waiting))
                if on_passed is not None and trial.status == "passed":
                    await on_passed(trial)
            elif best is None or best is proven:
                return sorted(trials, key=attrgetter("merit"))
            else:
                await run_plain(original, best)
                proven = best
    finally:
        for entrant in waiting:
            entrant.withdraw()


async def _first_of(entrants: Sequence[PendingCandidate], original: Original) -> TestedCandidate:
    """Return the trial of the first entrant, while the next ones and the reference run too."""
    for entrant in entrants[:AT_ONCE]:
        entrant.start(original)
        original.expect("kept")
    assert entrants[0].task is not None
    return await entrants[0].task


@dataclass(eq=False)
class PendingCandidate:
    """A candidate that has not been judged yet; `turn` is that of its cause, `lines` how many it
    changes."""

    turn: int
    candidate: Candidate
    lines: int
    task: asyncio.Task[TestedCandidate] | None = None

    def start(self, original: Original) -> None:
        """Begin its runs, unless they go on already."""
        if self.task is None:
            self.task = asyncio.create_task(trial_of(original, self.turn, self.candidate))

    def withdraw(self) -> None:
        """End its runs: others have made them needless."""
        if self.task is not None:
            self.task.cancel()
            self.task = None

    def may_come_before(self, best: TestedCandidate) -> bool:
        """Return True if the candidate could come before the best trial in the best case."""
        if best.settles and best.lines <= self.lines:
            return False
        return best_case(self.candidate, self.turn) <= best.prospect
