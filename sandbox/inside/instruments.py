"""What watches a run: set up as its job asks, and asked once more when the script has ended."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from torch.autograd.graph import saved_tensors_hooks

from .aims import Aims
from .budget import Budget
from .carried import PathWatch
from .changes import ChangeLog
from .double import InDouble
from .drawing import Draws
from .emitter import Emitter
from .engine import Engine, Observer
from .engines import EngineWatch
from .following import Following
from .frames import Json
from .gradient_reads import GradientReads
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
from .sampling import Attention
from .silent import SilentWatch
from .stamps import Clock, Stamps
from .steps import StepWatch
from .tampering import HiddenSteps, Seals
from .training_state import TrainingState
from .visits import VisitWatch

_CHANGES = ("keep_graphs", "freeing", "frozen_steps")  # by which a run is unlike the script's own


class Instruments:
    """The instruments of one run; none is in place, and `engine` is None, before `install`."""

    def __init__(self, job: Json, emitter: Emitter) -> None:
        self.job = job
        self.emitter = emitter
        self.stamps = Stamps()
        self._reference = str(job.get("reference") or "")
        self.budget = Budget(limited=bool(job.get("limited")))
        self.attention = Attention(always=self._is_compared())
        self.engine: Engine | None = None
        self.silent: SilentWatch | None = None
        self.reads: GradientReads | None = None
        self.losses: LossLog | None = None
        self.hand: HandSteps | None = None
        self.path: PathWatch | None = None
        self.aims: Aims | None = None
        self.state: TrainingState | None = None
        self.double: InDouble | None = None
        self.further: list[Observer] = []  # who else wants to hear of backward calls
        self._open = ExitStack()  # never closed: the script's last line is still seen
        self._clock = time.monotonic  # a script may replace it later

    def install(self) -> None:
        """Put them in place: those of steps before those of errors, the engine's wrapper last."""
        job, reference = self.job, self._reference
        self.stamps.install(hook=job.get("hook", True))
        self.parameters = Parameters(self.emitter)
        if reference:
            self._open.enter_context(saved_tensors_hooks(copied, lambda tensor: tensor))
            self.further.append(self._open.enter_context(Lenient(self.parameters)))
            self.aims = self._open.enter_context(Aims(held=reference == "aimed"))
        self._watch_steps()
        self._watch_errors()
        self.engine = Engine(
            self.stamps,
            [*self._observers(), *self.further],
            budget=self.budget,
            attention=self.attention,
            keep_graphs=bool(reference or job.get("keep_graphs")),
            make_graphs=reference == "differentiated",
            freeing=[f"{file}:{line}" for file, line in job.get("freeing") or ()],
            enough=Following(job, self._clock, self._steps_taken).enough,
        )
        self.engine.install()
        self.seals = Seals()

    def _steps_taken(self) -> int:
        """Return how many steps were taken; without an optimizer, backward calls count as such."""
        return Clock.steps if self.steps.made else Clock.visits

    def _watch_steps(self) -> None:
        job, reference = self.job, self._reference
        if job.get("state"):
            self.state = TrainingState(self.parameters)
            self.state.install()
        if job.get("double"):
            self.double = InDouble()
            self.double.install()
        self.steps = StepWatch(
            self.emitter,
            self.parameters,
            gradients=bool(reference or job.get("gradients")),
            frozen=bool(reference or job.get("frozen_steps")),
            unmoved=job.get("unmoved") or (),
            state=self.state,
            attention=self.attention,
        )
        self.steps.install()
        if self.steps.frozen and not job.get("own_random"):
            CommonRandomness(Draws(self.steps.passes)).install()
        self.hidden = HiddenSteps(self.steps)
        self.hidden.install()

    def _watch_errors(self) -> None:
        emitter, stamps, parameters = self.emitter, self.stamps, self.parameters
        self.leaves = LeafSteps(self.steps, parameters) if self.steps.gradients else None
        judges = not self._unlike()
        account = self.budget.account("engines of the script's own")
        EngineWatch(
            emitter, parameters, account, self.leaves, self._reference, judges=judges
        ).install()
        changes, self.losses = self._logs()
        self.inplace = InplaceWatch(emitter, stamps, parameters, changes)
        self.missing = MissingWatch(emitter, stamps, self.losses)
        self.missing.install()

    def _unlike(self) -> bool:
        """Return True if the run is unlike the script's own, so that its silence means nothing."""
        job = self.job
        changed = any(job.get(one) for one in _CHANGES)
        return bool(self._reference) or changed or not job.get("silent", True)

    def _is_compared(self) -> bool:
        """Return True if the run is compared with another by calls, or looked at for one error."""
        job = self.job
        slower = job.get("mode") == "inplace" or bool(job.get("follow") or job.get("state"))
        changed = any(job.get(one) for one in _CHANGES)
        return slower or changed or bool(self._reference or job.get("gradients"))

    def _logs(self) -> tuple[ChangeLog | None, LossLog | None]:
        """Return the two logs of the slower run, switched on for good."""
        if self.job.get("mode") != "inplace":
            return None, None
        changes, losses = ChangeLog(), LossLog(self.parameters, self.budget.notes)
        losses.install()
        self._open.enter_context(changes)
        self._open.enter_context(losses)
        return changes, losses

    def _observers(self) -> Iterator[Observer]:
        """Yield who observes each backward call, in this order."""
        job, reference = self.job, self._reference
        emitter, stamps, parameters = self.emitter, self.stamps, self.parameters
        yield ReuseWatch(emitter, stamps, parameters)
        yield self.inplace
        yield self.missing
        yield VisitWatch(emitter, stamps, parameters, values=self.steps.gradients)
        yield self.hidden
        if not self._unlike():
            self.silent = SilentWatch(emitter, stamps, parameters, self.losses)
            if not job.get("beside"):  # a user's own process keeps torch's attribute
                self.reads = GradientReads(parameters)
                self.reads.install()
                self.attention.on_rest.append(self.reads.rest)
            account = self.budget.account(self.silent.watches)
            self.steps.on_step.append((account, self.silent.stepped))
            self.steps.on_glance.append((account, self.silent.step_glanced))
            self.attention.on_rest.append(self.silent.rest)
            yield self.silent
        if job.get("follow"):
            self.path = PathWatch(emitter, job["follow"], int(job.get("freed") or 0))
            yield self.path
        if self.steps.gradients:
            frozen, renew = self.steps.frozen, bool(reference)
            notes = self.budget.notes
            self.hand = HandSteps(self.steps, parameters, notes, frozen=frozen, renew=renew)
            yield self.steps.feeding
            yield self.hand
        if reference == "truncated":
            yield Truncation()

    def follow(self) -> None:
        """Begin to follow values line by line, if that is asked for: just before the script."""
        if self.path is not None:
            self.path.install(self.stamps)

    def kept(self) -> list[tuple[object, Sequence[str]]]:
        """Return the objects that records go through, and what of them stays as it is."""
        mine = ("emitter", "engine", "seals", "hidden", "steps", "parameters", "job")
        writes = ("_fd", "_given", "_write", "_encode", "_getpid", "_pid")
        return [(self, mine), (self.emitter, writes), (self.engine, ("observers",))]

    def tampered(self) -> list[str]:
        """Return what the script did to them, as far as it shows."""
        found = self.emitter.meddled()
        if self.engine is not None:
            found += [*self.hidden.found, *self.seals.broken()]
        return found[:16]

    @property
    def moving_targets(self) -> bool:
        """Return True if targets of losses moved with the weights."""
        return self.aims is not None and self.aims.moving

    @property
    def constant_terms(self) -> bool:
        """Return True if losses had terms without a graph."""
        return self.silent is not None and self.silent.composed.constant_terms

    def explain(self, error: BaseException) -> None:
        """Tell in autograd's terms what ended the script."""
        if self.engine is not None and not self.inplace.explain(error):
            self.missing.explain(error)

    def finish(self, *, raised: bool) -> None:
        """Tell what shows at the end only; name what can be named now, and what is left of
        gradients."""
        if self.engine is None:
            return
        if not raised:
            self.missing.explain_warning()
            if self.silent is not None:
                if not self.silent.learns:
                    self.missing.explain_bare()
                self.silent.finish()
        self.parameters.name_again(None)
        if not raised and self.reads is not None and self.silent is not None:
            for found in self.reads.found() if not self.silent.found_any else ():
                told = {"t": "silent", "kind": "gradient-read-as-none", "doubtful": True}
                self.emitter.emit({**told, **found})
        self.parameters.tell()
        if self.leaves is not None:
            self.leaves.finish()
        if self.hand is not None:
            self.hand.finish()
        if self.state is not None:
            taken = [self.steps.totals[n] for n in range(min(self.steps.made, 4096))]
            self.emitter.emit({**self.state.final(), "taken": taken})
        if self.double is not None:
            self.emitter.emit({"t": "precision", "asked": list(self.double.asked)[:16]})
