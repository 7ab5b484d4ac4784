"""Looks for a world in which the text runs, or raises the given error.

Worlds are tried one after another in a fork: in its own process nothing is spoilt, and it may be
ended at any time. What it has found so far it has already told.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from torch.overrides import TorchFunctionMode

from . import kinds, lineage, shapes
from .families import kind_of
from .functions import told_by
from .here import Here
from .plan import Json, Plan
from .reading import Uses
from .things import Thing, Wish

TRIES, SECONDS, ONE_TRY = 40, 3.0, 0.8  # of the processor; how long that takes is bounded, too
PATIENCE_S = 8.0
_CERTAIN = ("reuse", "view", "leaf", "saved", "numpy", "deepcopy")  # where no error was given
ENOUGH = 16  # backward calls of one world


class Enough(BaseException):
    """A world has shown what it can show."""


@dataclass(frozen=True)
class Wanted:
    """The error that was given: its kind and family by its message, and lines of the text that
    its frames named. Empty: none was given."""

    message: str = ""
    family: str = ""
    lines: tuple[int, ...] = ()

    @classmethod
    def from_json(cls, told: Json) -> Wanted:
        lines = tuple(n for n in told.get("lines", ()) if isinstance(n, int))
        return cls(str(told.get("message", "")), str(told.get("family", "")), lines)

    def is_met(self, message: str, lines: tuple[int, int]) -> bool:
        """Whether an error at a statement (its first and last line) is the one given."""
        kind, family = kind_of(message)
        given, _ = kind_of(self.message)
        same = kind == given if given else bool(family) and family == self.family
        same |= {kind, given} == {"none", "nonleaf"}  # a warning, and what comes of it
        if self.family == "engine":
            same = message == self.message
        placed = not self.lines or any(lines[0] <= line <= lines[1] for line in self.lines)
        return same and placed


@dataclass(frozen=True)
class Outcome:
    """How a world went. `score`: 3 the given error, 2 an error of autograd's where none was given,
    1 it ran and walked, 0 it ended otherwise."""

    plan: Plan
    score: int
    said: str = ""


class Trial:
    """What one run of a world shows: how it ended, and which torch function raised."""

    def __init__(self) -> None:
        self.failure: shapes.Failure | None = None
        self.wish: Wish | None = None
        self.walks = 0
        self.lines = (0, 0)
        self.invented_loss = False
        self.driven = ""  # the function that nothing calls and that was being called


class Watch(TorchFunctionMode):
    """Sees every call of torch, counts walks, and notes the call that raised."""

    def __init__(self, trial: Trial) -> None:
        super().__init__()
        self._trial = trial

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        if name == "backward":
            self._trial.walks += 1
            if self._trial.walks > ENOUGH:
                raise Enough
        if name in ("__getitem__", "__setitem__"):
            for index in args[1] if isinstance(args[1], tuple) else args[1:2]:
                if isinstance(index, Thing):  # else torch would take its items for numbers
                    raise Wish(index._path, "tensor")
        told = told_by(name, args)
        if told is not None and told[0] not in Here.world.plan.shapes:
            raise Wish(told[0], shape=told[1])
        try:
            return lineage.remembered(func(*args, **(kwargs or {})), args)
        except Exception as error:
            given = (*args, *(kwargs or {}).values())
            if self._trial.failure is None or self._trial.failure.error is not error:
                self._trial.failure = shapes.Failure(error, name, given)
            raise


@dataclass(frozen=True)
class Choices:
    """What else a text leaves open: `elided`, something in a loop; `absent`, what it imports from
    packages that are not here."""

    elided: bool = False
    absent: bool = False


class Scout:
    """`run(plan, trial)` runs the text once in the world of a plan, and fills in the trial;
    `uses(plan)` are those of the text that the plan takes."""

    _until = 0.0
    _walks = 0  # in the last trial
    _walked_once = False  # in it: a fault may need a second pass

    def __init__(
        self,
        run: Any,
        uses: Callable[[Plan], Uses],
        wanted: Wanted,
        choices: Choices = Choices(),
    ) -> None:
        self._run = run
        self._choices = choices
        self._uses = uses
        self._wanted = wanted
        self._tries = 0
        self._tried: set[str] = set()

    def best(self) -> tuple[Plan, bool]:
        """The best plan that is found in time, and whether it shows an error; forks."""
        reading, writing = os.pipe()
        began = time.monotonic()
        child = os.fork()
        if child == 0:
            os.close(reading)
            self._explore(writing)
            os._exit(0)
        os.close(writing)
        data = _read_until(reading, began + PATIENCE_S)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        lines = [line for line in data.split(b"\n")[:-1] if line]
        if not lines:
            return Plan(), False
        told = json.loads(lines[-1])
        return Plan.from_json(told["plan"]), told["score"] >= 2

    def _explore(self, fd: int) -> None:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        signal.signal(signal.SIGPROF, _stop)
        self._until = time.process_time() + SECONDS
        best = -1
        for plan in self._worlds():
            outcome = self._settled(plan)
            if outcome.score > best:
                best = outcome.score
                told = {"score": best, "plan": outcome.plan.to_json()}
                os.write(fd, json.dumps(told).encode() + b"\n")
            if best == 3 or (best >= 1 and not self._wanted.family):
                return
            if self._tries >= TRIES or time.process_time() > self._until:
                return

    def _worlds(self) -> Iterator[Plan]:
        """The plain world, and those that differ in what use does not decide."""
        kind, _ = kind_of(self._wanted.message)
        self._base = Plan(
            engine=self._wanted.message if self._of_engine() else "",
            weights=kind == "graphless",  # else its being missing would say nothing of the text
        )
        yield self._base
        if self._choices.absent and not self._walks:
            self._base = replace(self._base, absent=True, skip=())
            yield self._base
        if not self._wanted.family:
            return
        if self._choices.elided:
            yield replace(self._base, carried=True)
        first = {"leaf": ["leaf"], "view": ["leaf", "graph"], "reuse": ["graph"]}.get(
            kind, ["graph", "leaf"]
        )
        for change in (
            *([{"longer": True}] if self._walked_once else []),
            *([{"repeats": True}] if kind == "reuse" else []),
            *({"data": data} for data in first),
            {"shared": True},
            {"weights": True},
            {"weights": True, "data": "graph"},
            {"shared": True, "moves": False},
            {"shared": True, "data": "graph"},
            {"data": "leaf"},
            {"data": "graph", "moves": False},
            {"longer": True},
        ):
            yield replace(self._base, **change)  # type: ignore[arg-type]

    def _of_engine(self) -> bool:
        """Whether the error is that of an engine of which the text does not show the class."""
        return self._wanted.family == "engine" and not any(
            name.endswith(".backward") for name in self._uses(Plan()).functions
        )

    def _settled(self, plan: Plan) -> Outcome:
        """The world with its guesses mended until nothing more is known to mend."""
        while True:
            self._tries += 1
            self._tried.add(_key(plan))
            trial = Trial()
            signal.setitimer(signal.ITIMER_PROF, ONE_TRY)
            try:
                self._run(plan, trial)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            outcome = self._judged(plan, trial)
            self._walks = trial.walks
            self._walked_once = trial.walks == 1 and trial.failure is None
            if outcome is not None:
                return outcome
            better = self._better(plan, trial)
            if better is None or self._tries >= TRIES or time.process_time() > self._until:
                return Outcome(plan, 0)
            plan = better
            self._base = replace(
                self._base, kinds=plan.kinds, shapes=plan.shapes, whole=plan.whole, skip=plan.skip
            )

    def _judged(self, plan: Plan, trial: Trial) -> Outcome | None:
        """The outcome, unless a better guess is to be tried first."""
        if trial.wish is not None:
            return None
        if trial.failure is None:
            return Outcome(plan, 1 if trial.walks else 0)
        message = f"{type(trial.failure.error).__name__}: {trial.failure.error}"
        kind, _ = kind_of(message)
        if self._wanted.family:
            if self._wanted.is_met(message, trial.lines):
                return Outcome(plan, 3, message)
            final = kind and kind not in ("none", "graphless", "scalar")
            return Outcome(plan, 0, message) if final else None
        if kind in _CERTAIN:
            return Outcome(plan, 0 if trial.invented_loss else 2, message)
        return None

    def _better(self, plan: Plan, trial: Trial) -> Plan | None:
        wish = trial.wish
        if wish is not None:
            better = plan.with_kind(wish.path, wish.kind) if wish.kind else plan
            if wish.shape:
                better = better.with_shape(wish.path, wish.shape)
            return better if self._is_new(better) else None
        if trial.failure is None:
            return None
        said = str(trial.failure.error)
        guesses = chain(
            shapes.mended(plan, trial.failure),
            kinds.of_another_kind(plan, self._uses(plan), trial.lines, said),
        )
        mended = next(filter(self._is_new, guesses), None)
        if mended is None and trial.driven and trial.driven not in plan.skip:
            return replace(plan, skip=(*plan.skip, trial.driven))
        return mended

    def _is_new(self, plan: Plan) -> bool:
        """Whether the plan was not tried: two wishes may ask for the opposite of each other."""
        return _key(plan) not in self._tried


def _key(plan: Plan) -> str:
    return json.dumps(plan.to_json(), sort_keys=True)


def _stop(*_: object) -> None:
    raise Enough


def _read_until(fd: int, deadline: float) -> bytes:
    """What is written to a pipe until its end, or until a time."""
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
