"""Finds what goes wrong without an exception, and says so only where it is plain."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from ..core import frames
from ..core.backward_site import TracedBackward
from ..core.clock import CLOCK
from ..core.emitter import Emitter
from ..core.engine import Call, Observer
from ..core.frames import Json
from ..core.freed_graphs import FreedGraphs
from ..core.parameters import KnownParameter, ParameterRegistry
from ..core.stamps import Stamps
from ..recorders.graph_losses import LossLog
from .closure_accumulation import ClosureAccumulation
from .details import CLIMBED, GATHERED, IDLE, RATIO, TAKEN, UNTOUCHED, UNUSED
from .discarded_gradients import DiscardedGradients
from .empty_steps import EmptySteps
from .foreign_gradients import ForeignGradients
from .graph_depth import GROWTH
from .graph_growth import GraphGrowth
from .idle_calls import IdleCalls
from .loss_composition import LossComposition
from .module_siblings import note_module_siblings
from .overwritten_gradients import OverwrittenGradients
from .reaching_back import ReachingBack
from .rebound_leaves import ReboundLeaves
from .replaced_parameters import learning_instead, left_out, unheld
from .reused_gradients import ReusedGradients
from .sharpness_steps import SharpnessSteps
from .uncleared_gradients import UnclearedGradients, unmoved
from .untrained_parameters import UntrainedParameters

LINES = 8  # of losses with moving targets, or constant terms, that are recorded
UPDATES = 64  # calls since a line's first, within which updates are looked at


class SilentWatch(Observer):
    """Measures graphs, gradients and steps; each kind of fault is reported once.

    What only static analysis can judge is reported at the end, if nothing plainer was.
    """

    watches = "faults that raise nothing"

    def __init__(
        self,
        emitter: Emitter,
        stamps: Stamps,
        parameters: ParameterRegistry,
        graphs: FreedGraphs,
        stepped: Mapping[int, int],
        log: LossLog | None = None,
    ) -> None:
        """Store what is measured by; `stepped` has the latest step of each optimizer."""
        self._stepped = stepped
        self._emitter = emitter
        self._parameters = parameters
        self._reported: set[str] = set()
        self._reaching_back = ReachingBack(stamps)
        self._growth = GraphGrowth(stamps, graphs, self._reaching_back.at_line_of)
        self._aliases = OverwrittenGradients(parameters)
        self._untrained = UntrainedParameters(parameters)
        self._empty_steps = EmptySteps()
        self._discarded = DiscardedGradients()
        self._rebound = ReboundLeaves(parameters)
        self._uncleared = UnclearedGradients()
        self._foreign = ForeignGradients()
        self._ascents = SharpnessSteps(parameters)
        self.composed = LossComposition(stamps, parameters)
        self._reused = ReusedGradients(parameters)
        self._piled = ClosureAccumulation()
        self._last: TracedBackward | None = None  # that may have added to what nothing clears
        self._idle = IdleCalls(log)
        self._until = UPDATES  # up to which call updates are looked at

    def before(self, call: Call) -> None:
        """Note which parameters still hold, untouched, a gradient that a step has used."""
        if call.iteration == 1:  # what a line begins is new
            self._until = call.n + UPDATES
        if call.kind == "backward" and call.n <= self._until:
            self._uncleared.before()
            self._foreign.before()
            self._ascents.before()
            self._discarded.before()
            self.composed.before(call)
        elif call.kind == "backward":
            self._ascents.forget()
        if call.kind == "backward" and CLOCK.steps:
            self._reused.before()
        if (aliased := self._aliases.look(call)) is not None:
            self._tell("overwritten-gradient", during=call, **aliased)
        self._doubt_aliases(ended=False)

    def after(self, call: Call) -> None:
        """Look for growth, and count what the optimizers' parameters received."""
        self.composed.after(call, early=call.n <= self._until)
        if call.kind == "backward":
            self._untrained.after_backward(call)
            note_module_siblings(call.received, self._parameters)
            for known in call.received:
                self._reused.received(known)
            if call.n <= self._until:
                self._empty_steps.after_backward(call)
                self._foreign.after(call)
                self._discarded.after(call)
                self._tell_uncleared(call)
                self._tell_ascents(call)
                if not any(known.optimizer is not None for known in call.received):
                    self._idle.note(call)
                if all(known.optimizer not in self._stepped for known in call.received):
                    self._last = call.alone()
        self._aliases.crossed(call)
        self.glanced(call)
        if (fields := self._reaching_back.after(call)) is not None:
            self._tell("reaching-back", during=call, **fields)

    def glanced(self, call: Call) -> None:
        """Look for growth alone: any call may reach what was gathered."""
        if "growing-graph" not in self._reported:
            growing = self._growth.after(call)
            self.glances = growing is None and self._growth.awaits
            if growing is not None:
                self._tell("growing-graph", **growing)

    def step_glanced(self, optimizer: int) -> None:
        """Look again at gradients that were nothing but zeros so far."""
        self._untrained.step_glanced(optimizer)

    @property
    def awaits_gradients(self) -> bool:
        """Return True if any optimizer has met nothing but zeros so far."""
        return self._untrained.awaits_gradients

    def rest(self) -> None:
        """Forget what one call leaves for the next: those that follow are not looked at."""
        self._reused.rest()
        self._foreign.rest()
        self._discarded.rest()
        self._ascents.forget()
        self._untrained.rest()

    def stepped(
        self, optimizer: int, owned: list[KnownParameter], closure_accumulated: int
    ) -> None:
        """Tell an optimizer that takes most of its steps on gradients of steps before, or whose
        closure leaves those of its calls on one another."""
        self._untrained.stepped(optimizer, owned)
        here = frames.user_frame(sys._getframe())
        if CLOCK.calls <= self._until:
            self._empty_steps.stepped(optimizer, owned, here)
            self._discarded.stepped(optimizer, owned, here)
        self._idle.note_lost(owned, self._empty_steps.misses)
        self._rebound.stepped(owned, here)
        if (aliased := self._aliases.stepped(here)) is not None and here is not None:
            self._tell("overwritten-gradient", at=frames.place(here), **aliased)
        reused, early = self._reused, CLOCK.calls <= self._until
        if stale := reused.stepped(optimizer, owned, early=early):
            detail = UNTOUCHED if reused.never_cleared(stale) else ""
            self._tell_stale(stale, reused.norms[optimizer], reused.steps[optimizer], detail)
        if (fields := self._piled.stepped(optimizer, owned, closure_accumulated)) is not None:
            self._tell("uncleared-gradients", at=frames.user_place(sys._getframe()), **fields)
        if early and (stale := self._foreign.stepped(optimizer, owned)):
            used, cleared = self._foreign.norms[optimizer], self._foreign.cleared[optimizer]
            self._tell_stale(stale, used, len(used) + cleared, detail=self._foreign.detail)

    def _tell_stale(
        self, stale: list[KnownParameter], figures: list[float], occasions: int, detail: str = ""
    ) -> None:
        """Tell parameters that steps found with older gradients on most occasions."""
        if len(figures) >= GROWTH and 2 * len(figures) >= occasions:
            at = frames.user_place(sys._getframe())
            fields: Json = {"at": at, "params": _names(stale), "figures": figures[:64]}
            self._tell("uncleared-gradients", **fields, detail=detail, doubtful=detail == TAKEN)
            if detail == UNTOUCHED:
                self._reused.reported(stale, fields)

    def _tell_uncleared(self, call: Call) -> None:
        """Tell leaves that the script itself updates, again and again, and never clears."""
        fed = self._uncleared.after(call.received)
        stale = [leaf for leaf in fed if len(leaf.norms) >= GROWTH]
        if names := list(dict.fromkeys(leaf.name for leaf in stale if leaf.name)):
            figures = stale[0].norms[:64]
            self._tell("uncleared-gradients", during=call, params=names[:64], figures=figures)

    def _tell_ascents(self, call: Call) -> None:
        """Report parameters that were moved along gradients to which backward has then added.

        Exclude optimizers that call their closure again and again.
        """
        ascents = self._ascents
        if CLOCK.closure > 1:
            ascents.forget()
            return
        if ascents.after(call.received) and len(ascents.norms) >= GROWTH:
            names = _names(ascents.found.values())
            fields = {"params": names, "figures": ascents.norms[:64], "detail": CLIMBED}
            self._tell("uncleared-gradients", during=call, doubtful=True, **fields)

    def finish(self) -> None:
        """Tell what never received a gradient; where nothing plainer was, what is doubtful."""
        self._doubt_aliases(ended=True)
        for never in self._reused.never_cleared_at_all():
            self._emit("uncleared-gradients", **never)
        missed = self._empty_steps.found(self._parameters.known)
        untrained, detail = self._untrained.found()
        self._parameters.excuse(self._untrained.excused())
        if missed is not None and missed[0] == "cleared-gradients":
            self._tell(missed[0], **missed[1])
        elif untrained:
            ends = [*(known.withheld for known in untrained), *(known.lost for known in untrained)]
            at = next(filter(None, [self.composed.derivatives.line_of(untrained), *ends]), None)
            fields: Json = {"at": at, "uncalled": _names(self._untrained.doubted())}
            fields |= {"params": _names(untrained), "figures": [float(len(untrained))]}
            fields |= {"detail": detail} if detail else {}
            if self._idle.last is not None and not self.learns:
                instead = learning_instead(self._parameters.known, untrained, self._stepped)
                cut = None if instead else self._idle.end  # what learns instead is no cut
                fields |= {"call": self._idle.last.record(), "detail": IDLE}
                fields["at"] = cut or at or self._idle.left_torch(untrained)
                fields |= instead
            self._tell("unfed-parameters", ran=self._untrained.lines.ran, **fields)
        elif fields := (left_out(self._parameters.known, self._stepped) or self._rebound.found()):
            self._tell("unfed-parameters", figures=[float(len(fields["instead"]))], **fields)
        elif missed is not None:
            self._tell(missed[0], **missed[1])
        if not self._reported and (growing := self._growth.doubted()) is not None:
            self._tell("growing-graph", detail=UNUSED, doubtful=True, **growing)
        for tell in (self._tell_gathering, self._tell_unused, self._tell_unmoved):
            if not self._reported:
                tell()
        if not self._reported and (lost := self._discarded.found()) is not None:
            self._emit("cleared-gradients", doubtful=True, **lost)
        for kind, fields in list(self.composed.found())[:LINES]:
            if self._reported <= {"uncleared-gradients"} or fields["detail"] == RATIO:
                self._emit(kind, doubtful=True, **fields)  # one a line; reading takes the faults

    def _tell_unused(self) -> None:
        """Tell parameters that nothing uses, and others that no optimizer holds."""
        unread = self._untrained.doubted()
        if fields := unheld(self._parameters.known, self._stepped, unread):
            self._tell("unheld-parameters", doubtful=True, **fields)
        if unread:
            at = next((one.lost for one in unread if one.lost), None)
            fields = {"at": at, "params": _names(unread), "figures": [float(len(unread))]}
            self._tell("unfed-parameters", ran=self._untrained.lines.ran, doubtful=not at, **fields)

    def _tell_gathering(self) -> None:
        """Report leaves that every backward call has added to, if no optimizer trains any. Only the
        source shows whether the script takes the sum for the last call's gradient."""
        if self.learns:
            return
        leaves = [leaf for leaf in self._uncleared.gathering() if len(leaf.sums) > GROWTH]
        names = list(dict.fromkeys(leaf.name for leaf in leaves if leaf.name))
        if names and self._last is not None:
            figures = leaves[0].sums[:64]
            fields = {**self._last.fault(), "params": names[:64], "figures": figures}
            self._tell("uncleared-gradients", detail=GATHERED, doubtful=True, **fields)

    def _tell_unmoved(self) -> None:
        """Tell leaves that nobody moves: nothing is trained, or their optimizer never steps."""
        known, call = self._parameters.known, self._last
        if call is not None and (held := unmoved(known, self._stepped)):
            fields = {**call.fault(), "params": _names(held), "optimizer_at": held[0].taken}
            self._tell("unstepped-parameters", doubtful=True, **fields)
        elif call is not None and not self.learns and (free := unmoved(known)):
            self._tell("unmoved-leaves", doubtful=True, **call.fault(), params=_names(free))

    @property
    def found_any(self) -> bool:
        """Return True if any fault was reported."""
        return bool(self._reported)

    @property
    def learns(self) -> bool:
        """Return True if anything that an optimizer has was ever given a gradient."""
        return any(k.optimizer is not None and k.receipts for k in self._parameters.known)

    def _doubt_aliases(self, *, ended: bool) -> None:
        """Report names of gradients that were rewritten, if none was reported for sure."""
        doubted = self._aliases.doubted(ended=ended)
        for fields in doubted if "overwritten-gradient" not in self._reported else []:
            self._emitter.emit({"t": "silent", "kind": "overwritten-gradient", **fields})

    def _tell(self, kind: str, during: Call | None = None, **more: Any) -> None:
        if kind in self._reported:
            return
        self._reported.add(kind)
        self._emit(kind, **(during.fault() if during is not None else {}), **more)

    def _emit(self, kind: str, **fields: Any) -> None:
        self._emitter.emit({"t": "silent", "kind": kind, **fields})


def _names(known: Iterable[KnownParameter]) -> list[str]:
    return [one.name for one in known if one.name][:64]
