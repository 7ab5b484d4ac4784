"""One run of one script, from seeds to the last record."""

from __future__ import annotations

import os
import platform
import random
import resource
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import torch
from torch.autograd.graph import saved_tensors_hooks

from . import failure, frames, needs
from .aims import Aims
from .carried import PathWatch
from .changes import ChangeLog
from .drawing import Draws
from .emitter import Emitter
from .engine import Engine, Observer, Stopped
from .engines import EngineWatch
from .entry import run_as_main
from .following import Following
from .frames import Json
from .guard import Guard
from .handmade import HandSteps
from .inplace import InplaceWatch
from .leaf_steps import LeafSteps
from .losses import LossLog
from .missing import MissingWatch
from .parameters import Parameters
from .randomness import CommonRandomness
from .references import Truncation, copied
from .refusals import Lenient
from .reuse import ReuseWatch
from .silent import SilentWatch
from .stamps import Clock, Stamps, next_number
from .steps import StepWatch
from .tampering import HiddenSteps, Seals
from .visits import VisitWatch


class Session:
    """Sets up the instruments that a job asks for, runs the script, tells how it ended."""

    def __init__(self, job: Json, emit_fd: int) -> None:
        self.job = job
        self.entry = str(job.get("entry") or "train.py")
        self.emitter = Emitter(emit_fd)
        self.stamps = Stamps()
        self.engine: Engine | None = None
        self.silent: SilentWatch | None = None
        self.seals: Seals | None = None
        self.hidden: HiddenSteps | None = None
        self.hand: HandSteps | None = None
        self.path: PathWatch | None = None
        self.aims: Aims | None = None
        self.further: list[Observer] = []  # who else wants to hear of backward calls
        self._open = ExitStack()  # never closed: the script's last line is still seen
        self._clock = time.monotonic  # a script may replace it later
        self._begun = self._clock()

    def parts(self) -> Iterator[Callable[[], int]]:
        """What the run is made of, to be called one by one: the script, then its exit code."""
        home = os.path.dirname(os.path.abspath(self.entry))
        frames.start_in(os.getcwd(), home, launcher=self.job.get("launcher"))
        if self.job.get("seed", True):
            seed_everything()
        if not self.job.get("beside"):
            needs.watch_arguments(self.emitter)
        if not self.job.get("launcher"):
            failure.shorten_warnings()
        if self.job.get("stand_ins", True):
            self._stand_in()
        self._prepare_world()
        if self.job.get("mode", "trace") != "plain":
            self._install()
        self.emitter.emit(
            {
                "t": "start",
                "v": 1,
                "torch": torch.__version__,
                "python": platform.python_version(),
                "entry": self.entry,
                "stamps": self.stamps.kind,
            }
        )
        Clock.first_node = next_number()
        if self.path is not None:
            self.path.install(self.stamps)
        guard, attempt = Guard(), Attempt(self._script())
        if self.seals is not None and not self.job.get("launcher"):
            guard.begin(self._kept(), [run, run_as_main, _called, Attempt.__call__])
        yield attempt
        reason, code = self._ended(attempt.error)
        if self.engine is not None:
            if reason != "raised":
                self.missing.explain_warning()
                if self.silent is not None:
                    self.silent.finish()
            self._tell_parameters()
        self.emitter.emit(
            {
                "t": "end",
                "reason": reason,
                "backwards": Clock.visits,
                "steps": Clock.steps,
                "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "truncated": self.engine.notes if self.engine else [],
                "tampered": [*guard.found(), *self._tampered()][:16],
                "moving_targets": self.aims is not None and self.aims.moving,
                "records": self.emitter.written + 1,
            }
        )
        yield lambda: code

    def _kept(self) -> list[tuple[object, Sequence[str]]]:
        """The objects that records go through, and what of them stays as it is."""
        mine = ("emitter", "engine", "seals", "hidden", "steps", "parameters", "job")
        writes = ("_fd", "_given", "_write", "_encode", "_getpid", "_pid")
        return [(self, mine), (self.emitter, writes), (self.engine, ("observers",))]

    def _tampered(self) -> list[str]:
        """What the script did to the instruments, as far as it shows."""
        found = self.emitter.meddled()
        if self.seals is not None and self.hidden is not None:
            found += [*self.hidden.found, *self.seals.broken()]
        return found[:16]

    def _install(self) -> None:
        job, emitter, stamps = self.job, self.emitter, self.stamps
        reference = str(job.get("reference") or "")
        stamps.install(hook=job.get("hook", True))
        if reference:
            self._open.enter_context(saved_tensors_hooks(copied, lambda tensor: tensor))
            self.further.append(self._open.enter_context(Lenient()))
            self.aims = self._open.enter_context(Aims(held=reference == "aimed"))
        self.parameters = Parameters(emitter)
        self.steps = StepWatch(
            emitter,
            self.parameters,
            gradients=bool(reference or job.get("gradients")),
            frozen=bool(reference or job.get("frozen_steps")),
            unmoved=job.get("unmoved") or (),
        )
        self.steps.install()
        if self.steps.frozen:
            CommonRandomness(Draws(self.steps.passes)).install()
        self.hidden = HiddenSteps(self.steps)
        self.hidden.install()
        self.leaves = LeafSteps(self.steps, self.parameters) if self.steps.gradients else None
        EngineWatch(emitter, self.parameters, self.leaves, reference).install()
        changes, losses = self._logs()
        self.inplace = InplaceWatch(emitter, stamps, self.parameters, changes)
        self.missing = MissingWatch(emitter, stamps, losses)
        self.missing.install()
        observers: list[Observer] = [
            ReuseWatch(emitter, stamps),
            self.inplace,
            self.missing,
            VisitWatch(emitter, stamps, self.parameters, values=self.steps.gradients),
            self.hidden,
        ]
        unlike = reference or job.get("keep_graphs") or job.get("frozen_steps")
        if not unlike and job.get("silent", True):
            self.silent = SilentWatch(emitter, stamps, self.parameters)
            observers.append(self.silent)
            self.steps.on_step.append(self.silent.stepped)
        if job.get("follow"):
            self.path = PathWatch(emitter, job["follow"], int(job.get("freed") or 0))
            observers.append(self.path)
        notes: list[str] = []
        if self.steps.gradients:
            self.hand = HandSteps(
                self.steps,
                self.parameters,
                notes,
                frozen=self.steps.frozen,
                renew=bool(reference),
            )
            observers += [self.steps.feeding, self.hand]
        if reference == "truncated":
            observers.append(Truncation())
        self.engine = Engine(
            stamps,
            [*observers, *self.further],
            notes=notes,
            keep_graphs=bool(reference or job.get("keep_graphs")),
            make_graphs=reference == "differentiated",
            enough=Following(job, self._clock).enough,
        )
        self.engine.install()
        self.seals = Seals()

    def _stand_in(self) -> None:
        """Put the substitutes in place; each is told once, when it is first used."""
        told: set[str] = set()

        def report(name: str, detail: str, kind: str = "package") -> None:
            if name in told:
                return
            told.add(name)
            if kind == "package":
                self.emitter.emit({"t": "stand_in", "name": name, "detail": detail})
            else:
                self.emitter.emit({"t": "assumed", "kind": kind, "name": name, "text": detail})

        from . import standins  # absent from the downloadable file

        standins.install(report)

    def _logs(self) -> tuple[ChangeLog | None, LossLog | None]:
        """The two logs of the slower run, switched on for good."""
        if self.job.get("mode") != "inplace":
            return None, None
        changes, losses = ChangeLog(), LossLog()
        losses.install()
        self._open.enter_context(changes)
        self._open.enter_context(losses)
        return changes, losses

    def _explain(self, error: BaseException) -> None:
        """Tell what ended the script, in general and in autograd's terms."""
        self.emitter.emit(failure.record(error))
        needed = needs.of(error)
        if needed is not None:
            self.emitter.emit(needed)
        if self.engine is not None and not self.inplace.explain(error):
            self.missing.explain(error)

    def _tell_parameters(self) -> None:
        """Name what can be named now, and tell the gradients that are left."""
        self.parameters.name_again(None)
        self.parameters.tell()
        if self.leaves is not None:
            self.leaves.finish()
        if self.hand is not None:
            self.hand.finish()

    def _prepare_world(self) -> None:
        """Look for a world before any instrument is in place."""
        if self.job.get("world") is None:
            return
        from .worlds.running import Completed  # absent from the downloadable file

        argv = self.job.get("argv", [])
        self.completed = Completed(self.entry, argv, self.job["world"], self.emitter)
        self.plan = self.completed.plan()
        seed_everything()

    def _script(self) -> Callable[[], None]:
        """What runs the script; it holds nothing of the session's."""
        if self.job.get("world") is not None:
            return partial(self.completed.run, self.plan)
        return partial(run_as_main, self.job)

    def _ended(self, error: BaseException | None) -> tuple[str, int]:
        """Why the script ended, and its exit code; what ended it is told."""
        if error is None:
            return "finished", 0
        if isinstance(error, Stopped):
            return "stopped", 0
        if isinstance(error, SystemExit):
            code = exit_code(error)
            if code != 0:
                self.emitter.emit(failure.record(error))
            return "raised" if code else "finished", code
        self._explain(error)
        if not self.job.get("beside"):  # else the interpreter has shown it
            sys.stdout.flush()
            failure.show(error)
        return "raised", 1


class Attempt:
    """The call of the script, and the error with which it ended."""

    def __init__(self, script: Callable[[], None]) -> None:
        self._script = script
        self.error: BaseException | None = None

    def __call__(self) -> int:
        try:
            self._script()
        except BaseException as error:
            self.error = error
        return 0


def run(job: Json, emit_fd: int) -> int:
    """Run a job; the exit code of its script.

    C holds the session and calls its parts, so that no frame above the script leads to it.
    """
    return deque(map(_called, Session(job, emit_fd).parts()), maxlen=1)[0]


def _called(part: Callable[[], int]) -> int:
    return part()


def seed_everything() -> None:
    """Seed 0 for every source of randomness; a script's own seeds come later and win."""
    random.seed(0)
    torch.manual_seed(0)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)


def exit_code(error: SystemExit) -> int:
    """What Python makes of `sys.exit(...)`; a message goes to standard error."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1
