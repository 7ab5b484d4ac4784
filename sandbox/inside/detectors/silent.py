"""Finds what goes wrong without an exception, and says so only where it is plain."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import torch

from ..core import frames
from ..core.backward_site import TracedBackward
from ..core.emitter import Emitter
from ..core.engine import Call, Observer
from ..core.frames import Json
from ..core.freed_graphs import FreedGraphs
from ..core.parameters import KnownParameter, ParameterRegistry, values_of
from ..core.stamps import Clock, Stamps
from ..recorders.graph_losses import LossLog
from .closure_accumulation import ClosureAccumulation
from .details import CLIMBED, GATHERED, IDLE, TAKEN, UNTOUCHED, UNUSED
from .discarded_gradients import DiscardedGradients
from .empty_steps import EmptySteps
from .foreign_gradients import ForeignGradients
from .graph_depth import GROWTH, GraphDepth
from .graph_growth import GraphGrowth
from .loss_composition import LossComposition
from .module_siblings import note_module_siblings
from .overwritten_gradients import OverwrittenGradients
from .rebound_leaves import ReboundLeaves
from .replaced_parameters import added, replaced, replaced_by_leaves, unheld, unlisted
from .retained_graphs import RetainedGraphs, old_names
from .sharpness_steps import SharpnessSteps
from .uncleared_gradients import UnclearedGradients, unmoved
from .untrained_parameters import UntrainedParameters

HOLDERS = 32  # that are recorded
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
        self._log = log
        self._emitter = emitter
        self._stamps = stamps
        self._parameters = parameters
        self._reported: set[str] = set()
        self._growth = GraphGrowth(stamps, graphs, self._is_reaching_more)
        self._deepening = GraphDepth()
        self._retained = RetainedGraphs()
        self._aliases = OverwrittenGradients(parameters)
        self._untrained = UntrainedParameters(parameters)
        self._empty_steps = EmptySteps()
        self._discarded = DiscardedGradients()
        self._rebound = ReboundLeaves(parameters)
        self._uncleared = UnclearedGradients()
        self._foreign = ForeignGradients()
        self._ascents = SharpnessSteps(parameters)
        self.composed = LossComposition(stamps, parameters)
        self._used: dict[int, tuple[int, int]] = {}
        self._cleared: set[int] = set()  # parameters, at any time between a step and a backward
        self._stood: dict[int, tuple[float, float]] = {}  # values, as they were last
        self._candidates: set[int] = set()
        self._leftover: set[int] = set()
        self._chain: dict[int, tuple[int, int] | None] = {}
        self._unzeroed: dict[int, list[float]] = defaultdict(list)
        self._piled = ClosureAccumulation()
        self._steps: dict[int, int] = defaultdict(int)
        self._last: TracedBackward | None = None  # that may have added to what nothing clears
        # the latest that gave no optimizer's parameter anything
        self._idle: TracedBackward | None = None
        self._idle_leaf = False  # backward was called on a leaf, which has no graph
        self._idle_end: Json | None = None  # where that was made of what had a graph
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
        elif call.kind == "backward":
            self._ascents.forget()
        if call.kind == "backward" and Clock.steps:
            known = self._parameters.known
            self._candidates = {
                number
                for number, used in self._used.items()
                if used == known[number].mark and known[number].norm > 0
            }
            self._cleared |= self._used.keys() - self._candidates
            self._leftover = {
                number for number in self._leftover if self._chain[number] == known[number].mark
            }
        if (aliased := self._aliases.look(call)) is not None:
            self._tell("overwritten-gradient", during=call, **aliased)
        self._doubt_aliases(ended=False)

    def after(self, call: Call) -> None:
        """Look for growth, and count what the optimizers' parameters received."""
        if call.kind == "backward":
            self._untrained.after_backward(call.received)
            note_module_siblings(call.received, self._parameters)
            for known in call.received:
                self._used.pop(known.id, None)
                tensor = known.tensor()
                if known.id in self._candidates and tensor is not None:
                    self._leftover.add(known.id)
                    self._stood[known.id] = values_of(tensor)
                if known.id in self._leftover:
                    self._chain[known.id] = known.mark
            early = call.n <= self._until
            self.composed.after(call, early=early)
            if early:
                self._empty_steps.after_backward(call)
                self._foreign.after(call)
                self._discarded.after(call)
                self._tell_uncleared(call)
                self._tell_ascents(call)
                if not any(known.optimizer is not None for known in call.received):
                    self._idle = call.alone()
                    self._note_leaves(call)
                if any(known.optimizer is None for known in call.received):
                    self._last = call.alone()
        self._aliases.crossed(call)
        self.glanced(call)
        self._measure_walk(call)

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
        for kept in (self._used, self._stood, self._chain):
            kept.clear()
        for numbers in (self._candidates, self._leftover):
            numbers.clear()
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
        if Clock.calls <= self._until:
            self._empty_steps.stepped(optimizer, owned, here)
            self._discarded.stepped(optimizer, owned, here)
        self._note_lost(owned)
        self._rebound.stepped(owned, here)
        if (aliased := self._aliases.stepped(here)) is not None and here is not None:
            self._tell("overwritten-gradient", at=frames.place(here), **aliased)
        moved = [known for known in owned if self._has_moved(known)]
        over = [known for known in moved if known.id in self._leftover]
        stale = [known for known in over if self._is_as_reached(known)]
        self._leftover -= {known.id for known in over}
        for known in moved:
            if known.mark is not None:
                self._used[known.id] = known.mark
        self._steps[optimizer] += 1
        if stale:
            norms = [known.norm for known in stale]
            self._unzeroed[optimizer].append(sum(norm**2 for norm in norms) ** 0.5)
            untouched = self._cleared.isdisjoint(known.id for known in stale)
            figures, detail = self._unzeroed[optimizer], UNTOUCHED if untouched else ""
            self._tell_stale(stale, figures, self._steps[optimizer], detail)
        if (fields := self._piled.stepped(optimizer, owned, closure_accumulated)) is not None:
            self._tell("uncleared-gradients", at=frames.user_place(sys._getframe()), **fields)
        if Clock.calls <= self._until and (stale := self._foreign.stepped(optimizer, owned)):
            used, cleared = self._foreign.norms[optimizer], self._foreign.cleared[optimizer]
            self._tell_stale(stale, used, len(used) + cleared, detail=self._foreign.detail)

    def _is_as_reached(self, known: KnownParameter) -> bool:
        """Return True if a parameter's gradient is still the tensor that backward last added to.

        A script may put another one in its place.
        """
        reached, now = self._chain.get(known.id), known.mark
        return reached is None or now is None or reached[0] == now[0]

    def _has_moved(self, known: KnownParameter) -> bool:
        """Return True if the step has used its gradient.

        A group may wait for a later step, or stay as it is; and a write through `.data` changes no
        version.
        """
        tensor, written = known.tensor(), known.changed_by == Clock.steps
        if (
            tensor is None
            or Clock.calls > self._until
            or (written and known.id not in self._leftover)
        ):
            return written
        now = values_of(tensor)
        before, self._stood[known.id] = self._stood.get(known.id, now), now
        return before != now

    def _tell_stale(
        self, stale: list[KnownParameter], figures: list[float], occasions: int, detail: str = ""
    ) -> None:
        """Tell parameters that steps found with older gradients on most occasions."""
        if len(figures) >= GROWTH and 2 * len(figures) >= occasions:
            names = [known.name for known in stale if known.name]
            at = frames.user_place(sys._getframe())
            fields: Json = {"at": at, "params": names[:64], "figures": figures[:64]}
            self._tell("uncleared-gradients", **fields, detail=detail, doubtful=detail == TAKEN)

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
        if Clock.closure > 1:
            ascents.forget()
            return
        if ascents.after(call.received) and len(ascents.norms) >= GROWTH:
            names = [known.name for known in ascents.found.values() if known.name]
            fields = {"params": names[:64], "figures": ascents.norms[:64], "detail": CLIMBED}
            self._tell("uncleared-gradients", during=call, doubtful=True, **fields)

    def finish(self) -> None:
        """Tell the parameters of a trained module that never received a gradient; and, where
        nothing plainer was, what there was doubt about."""
        self._doubt_aliases(ended=True)
        missed = self._empty_steps.found(self._parameters.known)
        if missed is not None and missed[0] == "cleared-gradients":
            self._tell(missed[0], **missed[1])
        elif untrained := self._untrained.found():
            names = [known.name for known in untrained if known.name]
            at = next((known.withheld for known in untrained if known.withheld), None)
            at = at or next((known.lost for known in untrained if known.lost), None)
            fields: Json = {"at": at, "params": names[:64], "figures": [float(len(untrained))]}
            uncalled = [known.name for known in self._untrained.doubted() if known.name]
            fields["uncalled"] = uncalled[:64]
            if self._idle is not None and not self.learns:
                fields |= {"call": self._idle.record(), "detail": IDLE}
                fields["at"] = self._idle_end or at or self._left_torch(untrained)
                fields |= replaced(self._parameters.known, self._stepped) or replaced_by_leaves(
                    self._parameters.known, untrained, self._stepped
                )
            self._tell("unfed-parameters", **fields)
        elif fields := (
            replaced(self._parameters.known, self._stepped)
            or added(self._parameters.known, self._stepped)
            or unlisted(self._parameters.known, self._stepped)
            or self._rebound.found()
        ):
            self._tell("unfed-parameters", figures=[float(len(fields["instead"]))], **fields)
        elif missed is not None:
            self._tell(missed[0], **missed[1])
        if not self._reported and (growing := self._growth.doubted()) is not None:
            self._tell("growing-graph", detail=UNUSED, doubtful=True, **growing)
        if not self._reported:
            self._tell_gathering()
        if not self._reported and (unread := self._untrained.doubted()):
            names = [known.name for known in unread if known.name]
            at = next((known.lost for known in unread if known.lost), None)
            fields = {"at": at, "params": names[:64], "figures": [float(len(unread))]}
            self._tell("unfed-parameters", doubtful=at is None, **fields)
        if not self._reported:
            self._tell_unmoved()
        if not self._reported and (fields := unheld(self._parameters.known, self._stepped)):
            figures = [float(len(fields["instead"]))]
            self._tell("unheld-parameters", figures=figures, doubtful=True, **fields)
        if not self._reported and (lost := self._discarded.found()) is not None:
            self._emit("cleared-gradients", doubtful=True, **lost)
        for kind, fields in list(self.composed.found())[:LINES] if not self._reported else ():
            self._emit(kind, doubtful=True, **fields)  # one a line: reading takes what is a fault

    def _note_lost(self, owned: list[KnownParameter]) -> None:
        """Note where what came of parameters without a gradient lost its graph, while they live."""
        if self._log is None:
            return
        for known in owned:
            tensor = known.tensor()
            missed = not known.receipts or self._empty_steps.misses(known)
            if tensor is not None and missed and known.lost is None:
                ended = self._log.of_leaf(tensor)
                known.lost = ended.at if ended is not None else None

    def _note_leaves(self, call: Call) -> None:
        """Record whether a leaf is a root, and where any leaf was made of what had a graph."""
        roots = [one for one in call.outputs if isinstance(one, torch.Tensor) and one.is_leaf]
        leaves = [*roots, *(leaf.variable for _, leaf in call.walk.leaves)]
        ends = [self._log.of(leaf) for leaf in leaves] if self._log is not None else []
        self._idle_leaf = bool(roots)
        self._idle_end = next((ended.at for ended in ends if ended is not None), None)

    def _left_torch(self, untrained: list[KnownParameter]) -> Json | None:
        """Return where what derives from these went on as plain numbers, of which a leaf may be
        made."""
        if self._log is None or not self._idle_leaf:
            return None
        tensors = [tensor for known in untrained if (tensor := known.tensor()) is not None]
        ends = map(self._log.left_torch, tensors)
        return next((ended.at for ended in ends if ended is not None), None)

    def _tell_gathering(self) -> None:
        """Report leaves that every backward call has added to, if no optimizer trains any.

        Only static analysis can tell whether the script takes the sum for the last call's gradient.
        """
        if self.learns:
            return
        leaves = [leaf for leaf in self._uncleared.gathering() if len(leaf.sums) > GROWTH]
        names = list(dict.fromkeys(leaf.name for leaf in leaves if leaf.name))
        if names and self._last is not None:
            figures = leaves[0].sums[:64]
            place = _place_of(self._last.record())
            fields = {**place, "params": names[:64], "figures": figures}
            self._tell("uncleared-gradients", detail=GATHERED, doubtful=True, **fields)

    def _tell_unmoved(self) -> None:
        """Tell leaves that nobody ever moves, where nothing else is trained. Only reading can tell
        whether the script means to: it may want no more than their gradients."""
        names = unmoved(self._parameters.known)
        if names and self._last is not None and not self.learns:
            fields = {**_place_of(self._last.record()), "params": names[:64]}
            self._tell("unmoved-leaves", doubtful=True, **fields)

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

    def _is_reaching_more(self, call: Call) -> bool:
        """Return True if the calls at this line reach ever more nodes themselves: another fault."""
        return self._deepening.walks_more(call.line())

    def _measure_walk(self, call: Call) -> None:
        """Measure retained graphs that grow from call to call at one line."""
        if not call.retain:
            return
        begun = call.n - 1
        oldest = self._stamps.oldest(call.walk.nodes)
        reach = begun - oldest if oldest is not None else 0
        line = call.line()
        if figures := self._deepening.after(line, len(call.walk.nodes), reach):
            carriers = self._retained.carriers(line, call.roots)
            known = {held["path"] for held in carriers}
            others = [held for held in old_names(call) if held["path"] not in known]
            holders = [*carriers, *others][:HOLDERS]
            self._tell("reaching-back", during=call, holders=holders, figures=figures)
        elif self._deepening.walks_more(line) and "reaching-back" not in self._reported:
            self._retained.look(line, call.frame)

    def _tell(self, kind: str, during: Call | None = None, **more: Any) -> None:
        if kind in self._reported:
            return
        self._reported.add(kind)
        self._emit(kind, **(_place_of(during.record()) if during is not None else {}), **more)

    def _emit(self, kind: str, **fields: Any) -> None:
        self._emitter.emit({"t": "silent", "kind": kind, **fields})


def _place_of(backward_call: Json) -> Json:
    """Return the fields that say during which backward call a fault was found."""
    return {"at": backward_call["at"], "call": backward_call}
