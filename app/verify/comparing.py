"""Compare two runs, step by step and parameter by parameter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

from app.repair.fingerprints import IN_DOUBLE, LEAST, TOLERANCE, gap, gradient_gap
from app.repair.matching import matched
from app.verify import ends, layout
from app.verify.difference import WHAT, Compared, Difference, Kind
from app.verify.moments import Moments, ParameterStep, gaps, moments, numbered, taken
from app.verify.optimizer_settings import setting_gap
from sandbox.records import NOT_FINITE, Gradient, Step, Trace

LOUD = 1e-6  # of a step's largest gradient: less may be the rounding of zero
MOST = 256  # differences that are kept


@dataclass(frozen=True)
class Tolerances:
    """How exactly two runs are compared. `tolerance` is a share of a norm; `rounding` is the error
    that an update may have, as a share of the parameter's value.
    """

    tolerance: float = TOLERANCE
    rounding: float = 5e-7


SINGLE, DOUBLE = Tolerances(), Tolerances(IN_DOUBLE, 1e-12)


def compare(
    one: Trace, other: Trace, precision: Tolerances = SINGLE, *, held: bool = False
) -> Compared:
    """Compare every step that both runs took. `held`: parameters were held fixed, so that
    updates, values and buffers say nothing."""
    return _StepComparison(one, other, precision, held).result()


@dataclass
class _StepComparison:
    one: Trace
    other: Trace
    precision: Tolerances
    held: bool
    found: list[Difference] = field(default_factory=list)
    loud: Counter[int] = field(default_factory=Counter)  # steps in which a parameter is fed
    lost: Counter[int] = field(default_factory=Counter)  # and in which it is not any more
    kinds: tuple[str, str] | None = None

    @cached_property
    def number(self) -> Mapping[int, int]:
        """Return the changed version's parameters by the original's numbers."""
        return {ours: theirs for theirs, ours in matched(self.one, self.other).items()}

    @cached_property
    def names(self) -> Mapping[int, str]:
        return {p.id: p.name for p in self.one.parameters}

    @cached_property
    def ours(self) -> Moments:
        return moments(self.one)

    @cached_property
    def theirs(self) -> Moments:
        return moments(self.other)

    @cached_property
    def order(self) -> Mapping[int, int]:
        """Return the order of the original's steps, by identity."""
        return {id(step): n for n, (_, step) in enumerate(numbered(self.one), 1)}

    def result(self) -> Compared:
        """Return everything that was found."""
        pairs: dict[tuple[int, int], tuple[Step, Step]] = {}
        for ours, theirs in self._paired():
            pairs[id(ours.step), id(theirs.step)] = ours.step, theirs.step
            self._compare(ours, theirs)
        relaid = self._compare_layout()
        steps = ends.one_to_one(list(pairs.values()))
        self._compare_ends(steps)
        loss = ends.loss_gap(self.one, self.other, self.precision.tolerance)
        if relaid and loss is not None:
            self.found.append(Difference(0, "gradient", "has another loss"))
        random = ends.random_from(steps, self.order)
        return Compared(
            steps=len({ours for ours, _ in pairs}) or relaid,
            total=taken(self.one),
            differences=[*self._located(sorted(self.found, key=lambda d: d.rank)[:MOST])],
            random_from=random,
            random_step=self._number(random),
            loss=loss,
            kinds=self.kinds,
            stopped=not (ends.has_ended(self.one) and ends.has_ended(self.other)),
            relaid=relaid > 0,
            lost_gradients=tuple(self._name(p) for p, n in self.lost.items() if n == self.loud[p]),
            parameters=len({p for p in self.ours if p in self.number}),
        )

    def _located(self, found: Iterable[Difference]) -> Iterator[Difference]:
        """Yield the differences with the compared step before, where steps between were not."""
        since = gaps(self.one)
        for one in found:
            yield replace(one, since=since.get(id(one.ours), 0))

    def _number(self, order: float) -> int:
        """Return the number of the original's step of this order; 0 for none."""
        steps = (step for _, step in numbered(self.one) if self.order[id(step)] == order)
        return next((step.n or step.count for step in steps), 0)

    def _paired(self) -> Iterator[tuple[ParameterStep, ParameterStep]]:
        """Yield the k-th step of each parameter in both runs, in the order of
        the original's steps.
        """
        for k, step in numbered(self.one):
            for gradient in step.gradients:
                theirs = self.theirs.get(self.number.get(gradient.param, -1), {}).get(k)
                if theirs is not None:
                    yield self.ours[gradient.param][k], theirs

    def _compare(self, ours: ParameterStep, theirs: ParameterStep) -> None:
        """Compare one parameter in one step of both runs."""
        g, h = ours.gradient, theirs.gradient
        largest = _largest(ours.step, theirs.step)
        if not self.held:
            self._exceeds(ours, theirs, "value", gap(g.values, h.values))
        if not (g.none and h.none):
            self._compare_settings(ours, theirs)
        self.loud[g.param] += _is_loud(g, largest)
        if _is_loud(g, largest) and (h.none or h.norm == 0):
            self.lost[g.param] += 1
            self._add(ours, theirs, "lost", "gets no gradient any more", None)
        elif _is_loud(h, largest) and (g.none or g.norm == 0):
            self._add(ours, theirs, "gained", "gets a gradient that it did not get", None)
        else:
            self._exceeds(ours, theirs, "gradient", gradient_gap(g, h, largest))
        if not self.held:
            self._exceeds(ours, theirs, "update", self._update_gap(ours, theirs))

    def _add(
        self, ours: ParameterStep, theirs: ParameterStep, kind: Kind, what: str, off: float | None
    ) -> None:
        order, name = self.order.get(id(ours.step), 0), self._name(ours.gradient.param)
        self.found.append(Difference(order, kind, what, name, off, ours.step, theirs.step))

    def _exceeds(self, ours: ParameterStep, theirs: ParameterStep, kind: Kind, off: float) -> None:
        if off > self.precision.tolerance:
            self._add(ours, theirs, kind, WHAT[kind], min(off, NOT_FINITE))

    def _compare_settings(self, ours: ParameterStep, theirs: ParameterStep) -> None:
        one, other = ours.step.kind, theirs.step.kind
        if one == other:
            if said := setting_gap(ours, theirs):
                self._add(ours, theirs, "setting", f"is stepped with other settings: {said}", None)
        elif one and other:
            self.kinds = self.kinds or (one, other)
            if self.held:
                what = f"is stepped by {other}, where it was {one}"
                self._add(ours, theirs, "optimizer", what, None)

    def _update_gap(self, ours: ParameterStep, theirs: ParameterStep) -> float:
        """Return how far two updates differ, relative to the larger; 0 within the rounding of the
        parameter.
        """
        a, b = ours.change, theirs.change
        if not a or not b:
            return 0.0
        off = max(abs(x - y) for x, y in zip(a, b, strict=False))
        held = max((v.gradient.values[0] for v in (ours, theirs) if v.gradient.values), default=0.0)
        if off <= self.precision.rounding * held:
            return 0.0
        return off / max(*(abs(x) for x in (*a, *b)), LEAST**2)

    def _compare_layout(self) -> int:
        """Compare the parameters that have no counterpart as a whole. Return the number of steps
        compared; 0 if all have a counterpart or they cannot be compared.
        """
        ours = layout.side(self.one, self.ours, self.number.keys())
        theirs = layout.side(self.other, self.theirs, set(self.number.values()))
        if not layout.is_relaid(ours, theirs):
            self.found += layout.missing(ours, theirs)
            return 0
        tolerance = self.precision.tolerance
        steps, found = layout.whole(ours, theirs, self.order, tolerance, held=self.held)
        self.found += found
        return steps

    def _compare_ends(self, steps: ends.Pairs) -> None:
        """Compare the number of steps, the buffers, and the final values."""
        if counted := ends.count_gap(self.one, self.other, self.number):
            param, what = counted
            self.found.append(Difference(inf, "steps", what, self._name(param)))
        if self.held:
            return
        tolerance = self.precision.tolerance
        if buffer := ends.buffer_gap(self.one, steps, self.order, tolerance):
            self.found.append(buffer)
        self.found += ends.final_gaps(self.one, self.other, self.number, tolerance)

    def _name(self, param: int) -> str:
        return self.names.get(param, "")


def _largest(*steps: Step) -> float:
    norms = [g.norm for step in steps for g in step.gradients]
    return max((norm for norm in norms if norm < NOT_FINITE), default=0.0)


def _is_loud(gradient: Gradient, largest: float) -> bool:
    return not gradient.none and gradient.norm > LOUD * largest
