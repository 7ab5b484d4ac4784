"""Searches a harness in which the script runs, or raises the given error.

Harnesses are tried one after another in a fork: its own process is not affected, and it may be
ended at any time. It reports what it has found so far as it goes.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from . import kinds, shapes
from .driving import PASSES
from .families import GivenError, kind_of
from .plan import ValuePlan
from .reading import Uses
from .trial import Enough, HarnessTrial
from .variants import Choices, variants

TRIES, SECONDS, ONE_TRY = 40, 3.0, 0.8  # of the processor; how long that takes is bounded, too
OTHERWISE, GUESSES = 60, 6  # further tries, and guesses at one failure
FEW = 8  # backward calls that are not enough for what grows
PATIENCE_S = 8.0
_CERTAIN = ("reuse", "view", "leaf", "saved", "numpy", "deepcopy")  # where no error was given


@dataclass(frozen=True)
class TrialResult:
    """How a trial went.

    `score`: 3 the given error, 2 an error of autograd's if none was given, 1 it ran and called
    backward, 0 it ended otherwise.
    """

    plan: ValuePlan
    score: int
    said: str = ""
    backward_calls: int = 0


class Searcher:
    """`run(plan, trial)` runs the text once in the harness of a plan, and fills in the trial;
    `uses(plan)` are those of the text that the plan takes; `begun`: the plan to begin with, and no
    other that use does not decide."""

    _until = 0.0
    _backward_calls = 0  # in the last trial
    _blind = False  # in it, an optimizer found nothing that learns
    _ran_backward = False  # in any, to a good end
    _ran_backward_once = False  # in it, for each call: a fault may need a second pass

    def __init__(
        self,
        run: Any,
        uses: Callable[[ValuePlan], Uses],
        wanted: GivenError,
        choices: Choices | None = None,
        begun: ValuePlan | None = None,
    ) -> None:
        self._begun = begun
        self._run = run
        self._choices = choices or Choices()
        self._uses = uses
        self._wanted = wanted
        self._left = TRIES
        self._tried: set[str] = set()
        self._others: list[
            tuple[int, ValuePlan]
        ] = []  # guesses not taken, and how far their runs came

    def best(self) -> tuple[ValuePlan, bool]:
        """Return the best plan that is found in time, and whether it shows an error; forks."""
        reading, writing = os.pipe()
        began = time.monotonic()
        child = os.fork()
        if child == 0:
            try:
                os.close(reading)
                self._explore(writing)
            finally:
                os._exit(0)
        os.close(writing)
        data = _read_until(reading, began + PATIENCE_S)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        lines = [line for line in data.split(b"\n")[:-1] if line]
        if not lines:
            return self._begun or ValuePlan(), False
        report = json.loads(lines[-1])
        return ValuePlan.from_json(report["plan"]), report["score"] >= 2

    def _explore(self, fd: int) -> None:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        signal.signal(signal.SIGPROF, _stop)
        self._until = time.process_time() + SECONDS
        best, most = -1, 0
        for plan in self._plans():
            outcome = self._settled(plan)
            further = (
                not self._wanted.family and outcome.score == 1 and outcome.backward_calls > most
            )
            if outcome.score > best or (outcome.score == best and further):
                best, most = outcome.score, outcome.backward_calls
                report = {"score": best, "plan": outcome.plan.to_json()}
                os.write(fd, json.dumps(report).encode() + b"\n")
            if best == 3 or (not self._wanted.family and (best == 2 or most > FEW)):
                return
            if self._is_over():
                return

    def _is_over(self) -> bool:
        return self._left <= 0 or time.process_time() > self._until

    def _plans(self) -> Iterator[ValuePlan]:
        """Yield the plain plan, and those that differ in what use does not decide.

        Then yield the same with untaken guesses of the run that came furthest first.
        """
        yield from self._guessed_first()
        if self._ran_backward and not self._wanted.family:
            return
        self._left += OTHERWISE
        while (plan := self._guessed_otherwise()) is not None:
            self._base = plan
            yield plan
            if self._backward_calls and self._wanted.family:
                yield from self._variants()

    def _guessed_otherwise(self) -> ValuePlan | None:
        new = [(calls, plan) for calls, plan in self._others if self._is_new(plan)]
        if not new:
            return None
        chosen = max(new, key=lambda other: other[0])
        self._others = [other for other in new if other is not chosen]
        return chosen[1]

    def _guessed_first(self) -> Iterator[ValuePlan]:
        if self._begun is not None:
            self._base = self._begun
            yield self._base
            return
        kind, _ = kind_of(self._wanted.message)
        self._base = ValuePlan(
            engine=self._wanted.message if self._of_engine() else "",
            weights=kind == "graphless",  # else its being missing would say nothing of the text
        )
        yield self._base
        if self._choices.absent and not self._backward_calls:
            self._base = replace(self._base, absent=True, skip=())
            yield self._base
        if self._wanted.family:
            yield from self._variants()
            return
        if not self._backward_calls:  # what is handed to a loss has a graph
            yield replace(self._base, data="graph")
            return
        if self._blind:  # what is called learns
            self._base = replace(self._base, weights=True)
            yield self._base
        if self._backward_calls <= FEW:  # what grows shows it later
            if self._choices.part:
                yield replace(self._base, looped=True)
            yield replace(self._base, longer=True)

    def _variants(self) -> Iterator[ValuePlan]:
        kind, _ = kind_of(self._wanted.message)
        return variants(self._base, kind, self._choices, ran=self._ran_backward_once)

    def _of_engine(self) -> bool:
        """Return True if the error is that of an engine whose class the script does not show."""
        return self._wanted.family == "engine" and not any(
            name.endswith(".backward") for name in self._uses(ValuePlan()).functions
        )

    def _settled(self, plan: ValuePlan) -> TrialResult:
        """Return the outcome with guesses corrected until no correction is known."""
        while True:
            self._left -= 1
            self._tried.add(_key(plan))
            trial = HarnessTrial()
            signal.setitimer(signal.ITIMER_PROF, ONE_TRY)
            try:
                self._run(plan, trial)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            outcome = self._judged(plan, trial)
            self._backward_calls = trial.backward_calls
            self._blind = trial.blind
            self._ran_backward |= outcome is not None and outcome.score > 0
            self._ran_backward_once = trial.backward_calls <= PASSES and trial.failure is None
            if outcome is not None:
                return outcome
            guesses = list(islice(self._guesses(plan, trial), GUESSES))
            self._others += [(trial.calls, other) for other in guesses[1:]]
            if not guesses or self._is_over():
                return TrialResult(plan, 0)
            plan = guesses[0]
            self._base = replace(
                self._base,
                kinds=plan.kinds,
                shapes=plan.shapes,
                whole=plan.whole,
                skip=plan.skip,
                omitted=plan.omitted,
                weights=plan.weights,
                optional=plan.optional,
            )

    def _judged(self, plan: ValuePlan, trial: HarnessTrial) -> TrialResult | None:
        """Return the outcome, or None if a better guess is to be tried first."""
        if trial.wish is not None:
            return None
        if trial.failure is None:
            shown = 0 if trial.blind else trial.backward_calls
            return TrialResult(plan, 1 if trial.backward_calls else 0, backward_calls=shown)
        message = f"{type(trial.failure.error).__name__}: {trial.failure.error}"
        kind, _ = kind_of(message)
        if self._wanted.family:
            # without weights it says something of the script if a root has had a graph before
            shows_error = kind != "graphless" or plan.weights or trial.backward_calls > 1
            if shows_error and self._wanted.is_met(message, trial.lines):
                return TrialResult(plan, 3, message)
            final = kind and kind not in ("none", "graphless", "scalar")
            return TrialResult(plan, 0, message) if final else None
        if kind in _CERTAIN:
            synthesized = trial.invented_loss or plan.data != "plain" or plan.weights
            return TrialResult(plan, 0 if synthesized else 2, message)
        return None

    def _guesses(self, plan: ValuePlan, trial: HarnessTrial) -> Iterator[ValuePlan]:
        """Yield plans that were not tried and under which the trial would go otherwise."""
        if (wish := trial.wish) is not None:
            better = plan.with_kind(wish.path, wish.kind) if wish.kind else plan
            if wish.shape:
                better = better.with_shape(wish.path, wish.shape)
            yield from filter(self._is_new, [better])
        if trial.failure is None:
            return
        said = str(trial.failure.error)
        left_out = self._choices.optional and not plan.optional and "NoneType" in said
        guesses = chain(
            [replace(plan, optional=True)] if left_out else [],
            shapes.refitted(plan, trial.failure),
            # what gave the loss learns
            [replace(plan, weights=True)] if kind_of(said)[0] == "graphless" else [],
            kinds.of_another_kind(plan, self._uses(plan), trial, said),
            [replace(plan, skip=(*plan.skip, trial.driven))]
            if trial.driven and trial.driven not in plan.skip
            else [],
            [replace(plan, omitted=(*plan.omitted, trial.report))] if trial.report else [],
        )
        seen = set[str]()
        for guess in filter(self._is_new, guesses):
            if (key := _key(guess)) not in seen:
                seen.add(key)
                yield guess

    def _is_new(self, plan: ValuePlan) -> bool:
        """Return True if the plan was not tried: two wishes may contradict each other."""
        return _key(plan) not in self._tried


def _key(plan: ValuePlan) -> str:
    return json.dumps(plan.to_json(), sort_keys=True)


def _stop(*_: object) -> None:
    raise Enough


def _read_until(fd: int, deadline: float) -> bytes:
    """Return what is written to a pipe until its end, or until a time."""
    data = b""
    while (left := deadline - time.monotonic()) > 0 and len(data) < 1 << 20:
        if not select.select([fd], [], [], left)[0]:
            break
        part = os.read(fd, 65536)
        if not part:
            break
        data += part
    os.close(fd)
    return data
