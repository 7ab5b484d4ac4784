"""Describe how two backward calls came to use one graph, by what a run saw of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from analyzers.evidence import Evidence, GraphReuse
from analyzers.explain.reuse.collected import collected, kept_by_module
from analyzers.explain.reuse.features import ReuseFeatures, story_of
from analyzers.explain.reuse.measures import keeps_losses
from analyzers.explain.reuse.shared_frame import Shared
from analyzers.explain.reuse.value_sources import of_parameters_alone
from analyzers.source.project import Project


@dataclass(frozen=True)
class SecondUse:
    """Two uses of one graph."""

    features: ReuseFeatures

    @property
    def reuse(self) -> GraphReuse:
        """Return the evidence."""
        return self.features.reuse

    @property
    def shared(self) -> Shared | None:
        """Return the frame that both calls share; None if its source is not known."""
        return self.features.shared

    @property
    def same_iteration(self) -> bool:
        """Return True if both calls belong to one iteration."""
        return self.features.same_iteration

    @property
    def carried(self) -> bool:
        """Return True if each iteration makes a value of its own, and one went on to the next."""
        if self.features.self_fed and self.reuse.remade and not self.same_iteration:
            return True
        known = [edge.renewed for edge in self.reuse.stale_edges if edge.renewed is not None]
        return not self.same_iteration and (any(known) if known else self.reuse.remade)

    @cached_property
    def by_part(self) -> bool:
        """Return True if each iteration uses another part of one result of a forward."""
        return self.features.sliced and not of_parameters_alone(self.features)

    @cached_property
    def stored(self) -> bool:
        """Return True if a store that outlives the iteration keeps the value: a container, an
        object, or an average with plain coefficients; no recurrence, whose next value needs it.
        """
        one = self.features
        if kept_by_module(one):
            return True
        if not one.hands_on or one.reuse.same_root or one.summed:
            return False
        renewed = one.bound_inside and (one.reuse.remade or bool(one.binders))
        return self._gathered or (renewed and (one.averaged or not one.self_fed))

    @cached_property
    def _gathered(self) -> bool:
        return any(collected(self.reuse, self.features.project))

    @cached_property
    def constant(self) -> bool:
        """Return True if nothing is meant to learn through the store: what no iteration makes
        again, what a rollout has collected, and losses.
        """
        return self.stored and (
            not self.reuse.remade or self._gathered or keeps_losses(self.features)
        )

    @property
    def gives_again(self) -> bool:
        """Return True if the second call of an iteration gives the gradient of the first again: of
        that loss, or of one that it is a term of.
        """
        one = self.features
        again = self.reuse.same_root or one.sums_earlier_roots or one.root_was_reached
        if one.from_grad or one.in_closure or one.sums_on:
            return False
        return again and (self.same_iteration or self.shared is None)

    @property
    def counts_twice(self) -> bool:
        """Return True if one iteration calls backward on one loss twice: with its graph kept, each
        step would use twice its gradient."""
        return self.reuse.same_root and self.gives_again and self.same_iteration

    @property
    def summed(self) -> bool:
        """Return True if losses were added up over calls; False for an average, which means its
        earlier part.
        """
        return bool(self.features.sums_on or self.features.summed) and not self.features.averaged

    @property
    def stepped(self) -> bool:
        """Return True if a step has changed weights between the two uses."""
        return any(edge.stepped for edge in self.reuse.stale_edges)

    @property
    def unchanged(self) -> bool:
        """Return True if a run saw no step change weights between the two uses."""
        by_hand = self.features.steps_inside or self.features.steps_by_hand
        return self.reuse.how != "predicted" and not (self.stepped or by_hand)

    @cached_property
    def whole(self) -> bool:
        """Return True if the second call needs no more than what the first has used: all of a loss,
        or that loss as a term of another one. Its gradient was taken already.
        """
        root = set(self.reuse.freed.root)
        ends = (j.new is None or root & {h.path for h in j.holders} for j in self.reuse.stale_edges)
        return self.reuse.same_root or any(ends)


def second_use(evidence: Evidence, project: Project) -> SecondUse | None:
    """Return how a graph came to be used twice; None for other evidence."""
    features = story_of(evidence, project)
    return SecondUse(features) if features is not None else None


def are_losses(features: ReuseFeatures) -> bool:
    """Return True if what was used twice are losses themselves: a cut would leave nothing of
    them.
    """
    totalled = features.sums_earlier_roots and not features.averaged
    return features.reuse.same_root or totalled or features.calls_backward_on_all
