"""What watches a run: set up as its job asks, and asked once more when the script has ended."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from torch.autograd.graph import saved_tensors_hooks

from .core.budget import Budget
from .core.clock import CLOCK
from .core.emitter import Emitter
from .core.engine import Observer, WrappedEngine
from .core.follow_limit import FollowLimit
from .core.frames import Json
from .core.freed_graphs import FreedGraphs
from .core.parameters import ParameterRegistry
from .core.sampling import CallSampler
from .core.stamps import Stamps
from .custom_engines.leaf_steps import LeafSteps
from .custom_engines.watch import EngineWatch
from .detectors.gradchecks import Gradchecks
from .detectors.gradient_reads import GradientReads
from .detectors.non_finite import LossWatch
from .detectors.silent import SilentWatch
from .errors.inplace import InplaceWatch
from .errors.missing_graph import MissingWatch
from .errors.reuse import ReuseWatch
from .recorders.backward_calls import BackwardRecorder
from .recorders.carried_values import PathWatch
from .recorders.graph_losses import LossLog
from .recorders.hand_writes import HandWrites
from .recorders.inplace_changes import ChangeLog
from .recorders.manual_updates import ManualUpdates
from .recorders.steps import StepWatch
from .recorders.training_state import TrainingState
from .references.common_random_numbers import CommonRandomness
from .references.double_precision import DoublePrecision
from .references.loss_targets import LossTargetMode
from .references.permissive_mode import PermissiveMode
from .references.random_draws import RandomDraws
from .references.truncation import Truncation, copied
from .tampering import HiddenSteps, IntegrityChecks

_CHANGES = ("keep_graphs", "freeing", "frozen_steps")  # by which a run is unlike the script's own


class Instruments:
    """The instruments of one run; none is in place, and `engine` is None, before `install`."""

    def __init__(self, job: Json, emitter: Emitter) -> None:
        self.job = job
        self.emitter = emitter
        self.stamps = Stamps()
        self._reference = str(job.get("reference") or "")
        self.budget = Budget(limited=bool(job.get("limited")))
        self.attention = CallSampler(always=self._is_compared())
        self.engine: WrappedEngine | None = None
        self.silent: SilentWatch | None = None
        self.reads: GradientReads | None = None
        self.losses: LossLog | None = None
        self.hand: ManualUpdates | None = None
        self.path: PathWatch | None = None
        self.target_mode: LossTargetMode | None = None
        self.state: TrainingState | None = None
        self.double: DoublePrecision | None = None
        self.gradchecks: Gradchecks | None = None
        self.further: list[Observer] = []  # who else wants to hear of backward calls
        self._open = ExitStack()  # never closed: the script's last line is still seen
        self._clock = time.monotonic  # a script may replace it later

    def install(self) -> None:
        """Put them in place: those of steps before those of errors, the engine's wrapper last."""
        job, reference = self.job, self._reference
        self.stamps.install(hook=job.get("hook", True))
        self.parameters = ParameterRegistry(self.emitter)
        if reference:
            self._open.enter_context(saved_tensors_hooks(copied, lambda tensor: tensor))
            self.further.append(self._open.enter_context(PermissiveMode(self.parameters)))
            self.target_mode = self._open.enter_context(
                LossTargetMode(held=reference == "constant_targets")
            )
        self._watch_steps()
        self._watch_errors()
        following = FollowLimit(job, self._clock, self._steps_taken)
        self.engine = WrappedEngine(
            self.stamps,
            [*self._observers(), *self.further],
            budget=self.budget,
            attention=self.attention,
            keep_graphs=bool(reference or job.get("keep_graphs")),
            make_graphs=reference == "differentiated",
            freeing=[f"{file}:{line}" for file, line in job.get("freeing") or ()],
            enough=following.enough if following.is_limited else None,
        )
        self.engine.install()
        self.seals = IntegrityChecks()

    def _steps_taken(self) -> int:
        """Return how many steps were taken; without an optimizer, backward calls count as such."""
        return CLOCK.steps if self.steps.optimizers.made else CLOCK.calls

    def _watch_steps(self) -> None:
        job, reference = self.job, self._reference
        if job.get("state"):
            self.state = TrainingState(self.parameters)
            self.state.install()
        if job.get("gradcheck"):
            self.gradchecks = Gradchecks()
            self.gradchecks.install()
        if job.get("double"):
            self.double = DoublePrecision()
            self.double.install()
        self.steps = StepWatch(
            self.emitter,
            self.parameters,
            gradients=bool(reference or job.get("gradients")),
            frozen=bool(reference or job.get("frozen_steps")),
            unmoved=job.get("unmoved") or (),
            state=self.state,
            attention=self.attention,
            notes=self.budget.notes,
        )
        self.steps.install()
        if self.steps.frozen and not job.get("own_random"):
            CommonRandomness(RandomDraws(self.steps.optimizers.passes)).install()
        self.hidden = HiddenSteps(self.steps)

    def _watch_errors(self) -> None:
        emitter, stamps, parameters = self.emitter, self.stamps, self.parameters
        self.leaves = LeafSteps(self.steps, parameters) if self.steps.gradients else None
        judges = not self._unlike()
        account = self.budget.account("engines of the script's own")
        self.engines = EngineWatch(
            emitter,
            parameters,
            account,
            self.leaves,
            self._reference,
            judges=judges,
            compares=bool(self.job.get("gradcheck")),
        )
        self.engines.install()
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
        graphs = FreedGraphs(stamps)
        yield ReuseWatch(emitter, stamps, parameters, graphs)
        yield self.inplace
        yield self.missing
        values, by_hand = self.steps.gradients, None
        if values or not job.get("attached"):  # a user's own process keeps torch's attribute
            by_hand = HandWrites(parameters)
            by_hand.install()
        yield BackwardRecorder(emitter, stamps, parameters, values=values, by_hand=by_hand)
        yield self.hidden
        if not self._unlike():
            stepped = self.steps.optimizers.latest
            self.silent = SilentWatch(emitter, stamps, parameters, graphs, stepped, self.losses)
            if not job.get("attached"):
                self.reads = GradientReads(parameters)
                self.reads.install()
                self.attention.on_rest.append(self.reads.rest)
            account = self.budget.account(self.silent.watches)
            self.steps.on_step.append((account, self.silent.stepped))
            self.attention.on_rest.append(self._rest)
            yield self.silent
            yield LossWatch(emitter, parameters)
        if job.get("follow"):
            self.path = PathWatch(emitter, job["follow"], int(job.get("freed") or 0))
            yield self.path
        if self.steps.gradients:
            frozen, renew = self.steps.frozen, bool(reference)
            notes = self.budget.notes
            self.hand = ManualUpdates(self.steps, parameters, notes, frozen=frozen, renew=renew)
            yield self.steps.feeding
            yield self.hand
        if reference == "truncated":
            yield Truncation()

    def _rest(self) -> None:
        """Look at steps that follow only where gradients were nothing but zeros so far."""
        if self.silent is not None:
            self.silent.rest()
            glancing = self.budget.account(self.silent.watches), self.silent.step_glanced
            self.steps.on_glance[:] = [glancing] if self.silent.awaits_gradients else []

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
    def targets_with_graph(self) -> bool:
        """Return True if targets of losses moved with the weights."""
        return self.target_mode is not None and self.target_mode.moving

    @property
    def constant_terms(self) -> bool:
        """Return True if losses had terms without a graph."""
        return self.silent is not None and self.silent.composed.constant_terms

    @property
    def constant_at(self) -> list[Json]:
        """Return where losses add up terms without a graph."""
        return [] if self.silent is None else [*self.silent.composed.constant_at()]

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
                record = {"t": "silent", "kind": "gradient-read-as-none", "doubtful": True}
                self.emitter.emit({**record, **found})
        self.parameters.tell()
        if self.leaves is not None:
            self.leaves.finish()
        if self.hand is not None:
            self.hand.finish()
        if self.state is not None:
            taken = [
                self.steps.optimizers.totals[n]
                for n in range(min(self.steps.optimizers.made, 4096))
            ]
            self.emitter.emit({**self.state.final(), "optimizer_steps": taken})
        if self.double is not None:
            self.emitter.emit({"t": "precision", "asked": list(self.double.asked)[:16]})
        if self.gradchecks is not None:
            self.engine.leave()
            self.stamps.pause()
            for compared in self.gradchecks.found():
                self.emitter.emit(compared)
            if (wrong := self.engines.wrong_gradient()) is not None:
                self.emitter.emit(wrong)
