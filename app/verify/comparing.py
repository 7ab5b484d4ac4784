"""Two runs are compared, step by step and parameter by parameter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, sqrt

from app.repair.fingerprints import LEAST, TOLERANCE, gap, gradient_gap
from app.repair.matching import matched
from app.verify.buffers import Buffers
from app.verify.difference import Compared, Difference, Kind, LossGap
from app.verify.moments import Moment, Moments, moments, numbered, totals
from app.verify.settings import setting_gap
from sandbox.records import NOT_FINITE, Backward, Gradient, Parameter, Step, Trace

LOUD = 1e-6  # of a step's largest gradient: less may be the rounding of zero
MOST = 256  # differences that are kept


@dataclass(frozen=True)
class Precision:
    """How exactly two runs are compared: `tolerance` as a share of a norm, and by how much of what
    a parameter holds its update may be off, which is rounded to that."""

    tolerance: float = TOLERANCE
    rounding: float = 5e-7


SINGLE, DOUBLE = Precision(), Precision(1e-6, 1e-12)


def compare(
    one: Trace, other: Trace, precision: Precision = SINGLE, *, held: bool = False
) -> Compared:
    """Compare every step that both runs took. `held`: parameters were held fixed, so that
    updates, values and buffers say nothing."""
    return _Comparing(one, other, precision, held).result()


@dataclass
class _Comparing:
    one: Trace
    other: Trace
    precision: Precision
    held: bool
    found: list[Difference] = field(default_factory=list)
    loud: Counter[int] = field(default_factory=Counter)  # steps in which a parameter is fed
    lost: Counter[int] = field(default_factory=Counter)  # and in which it is not any more

    @cached_property
    def number(self) -> Mapping[int, int]:
        """The original's parameters by those of the changed version."""
        return {ours: theirs for theirs, ours in matched(self.one, self.other).items()}

    @cached_property
    def names(self) -> Mapping[int, Parameter]:
        return {p.id: p for p in self.one.parameters}

    @cached_property
    def ours(self) -> Moments:
        return moments(self.one)

    @cached_property
    def theirs(self) -> Moments:
        return moments(self.other)

    @cached_property
    def order(self) -> Mapping[int, int]:
        """Of the original's steps, by identity."""
        return {id(step): n for n, (_, step) in enumerate(numbered(self.one), 1)}

    def result(self) -> Compared:
        """Everything that was found."""
        pairs: dict[tuple[int, int], tuple[Step, Step]] = {}
        kinds: tuple[str, str] | None = None
        for ours, theirs in self._paired():
            pairs[id(ours.step), id(theirs.step)] = ours.step, theirs.step
            self._compare(ours, theirs)
            if ours.step.kind and theirs.step.kind and ours.step.kind != theirs.step.kind:
                kinds = kinds or (ours.step.kind, theirs.step.kind)
        relaid = self._compare_layout()
        self._count_steps()
        steps = _one_to_one(list(pairs.values()))
        if not self.held:
            self._compare_buffers(steps)
        return Compared(
            steps=len({ours for ours, _ in pairs}) or relaid,
            differences=sorted(self.found, key=lambda d: d.rank)[:MOST],
            random_from=self._random_from(steps),
            loss=self._loss_gap(),
            kinds=kinds,
            stopped=any(t.ended is None or t.ended.reason == "stopped" for t in self._both),
            relaid=relaid > 0,
            starved=tuple(self._name(p) for p, n in self.lost.items() if n == self.loud[p]),
            parameters=len({p for p in self.ours if p in self.number}),
        )

    @property
    def _both(self) -> tuple[Trace, Trace]:
        return self.one, self.other

    def _paired(self) -> Iterator[tuple[Moment, Moment]]:
        """The k-th step of each parameter in both runs, in the order of the original's steps."""
        for k, step in numbered(self.one):
            for gradient in step.gradients:
                theirs = self.theirs.get(self.number.get(gradient.param, -1), {}).get(k)
                if theirs is not None:
                    yield self.ours[gradient.param][k], theirs

    def _add(
        self, ours: Moment | None, theirs: Moment | None, kind: Kind, what: str, off: float | None
    ) -> None:
        order = self.order.get(id(ours.step), 0) if ours is not None else 0
        name = self._name(ours.gradient.param) if ours is not None else ""
        steps = (ours.step if ours else None), (theirs.step if theirs else None)
        self.found.append(Difference(order, kind, what, name, off, *steps))

    def _name(self, param: int) -> str:
        return self.names[param].name if param in self.names else ""

    def _compare(self, ours: Moment, theirs: Moment) -> None:
        """One parameter in one step of both."""
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

    def _exceeds(self, ours: Moment, theirs: Moment, kind: Kind, off: float) -> None:
        if off > self.precision.tolerance:
            self._add(ours, theirs, kind, WHAT[kind], min(off, NOT_FINITE))

    def _compare_settings(self, ours: Moment, theirs: Moment) -> None:
        if ours.step.kind != theirs.step.kind:
            if self.held and ours.step.kind and theirs.step.kind:
                what = f"is stepped by {theirs.step.kind}, where it was {ours.step.kind}"
                self._add(ours, theirs, "optimizer", what, None)
        elif said := setting_gap(ours, theirs):
            self._add(ours, theirs, "setting", f"is stepped with other settings: {said}", None)

    def _update_gap(self, ours: Moment, theirs: Moment) -> float:
        """How far apart two updates are, but for the rounding of what the parameter holds."""
        a, b = ours.change, theirs.change
        if not a or not b:
            return 0.0
        off = max(abs(x - y) for x, y in zip(a, b, strict=False))
        held = max((v.gradient.values[0] for v in (ours, theirs) if v.gradient.values), default=0.0)
        if off <= self.precision.rounding * held:
            return 0.0
        return off / max(*(abs(x) for x in (*a, *b)), LEAST**2)

    def _compare_layout(self) -> int:
        """Compare as a whole what has no counterpart: weights that were split, or joined. Returns
        how many steps; 0 where all have one."""
        mine = [p for p in self.ours if p not in self.number and self._learns(self.ours, p)]
        known = set(self.number.values())
        others = [p for p in self.theirs if p not in known and self._learns(self.theirs, p)]
        if not mine and not others:
            return 0
        sizes = [_sizes(self.one, mine), _sizes(self.other, others)]
        if sizes[0] != sizes[1] or not mine or not others:
            self._report_missing(mine, others)
            return 0
        steps = sorted({k for p in mine for k in self.ours[p]})
        for k in steps:
            ours, theirs = _at(self.ours, mine, k), _at(self.theirs, others, k)
            if ours and theirs:
                self._compare_whole(ours, theirs)
        return len(steps)

    def _compare_whole(self, ours: Sequence[Moment], theirs: Sequence[Moment]) -> None:
        """Norms of everything together: they do not depend on how it is laid out."""
        sides = ours, theirs
        wholes: dict[Kind, list[float]] = {
            "gradient": [_norm([m.gradient.norm for m in side]) for side in sides],
            "value": [_norm([v for m in side for v in m.gradient.values[:1]]) for side in sides],
        }
        for kind, (a, b) in wholes.items():
            off = abs(a - b) / max(a, b, LEAST)
            if off > self.precision.tolerance and not (kind == "value" and self.held):
                order = self.order.get(id(ours[0].step), 0)
                steps = ours[0].step, theirs[0].step
                self.found.append(Difference(order, kind, WHAT[kind], "", off, *steps))

    def _learns(self, side: Moments, param: int) -> bool:
        return any(m.gradient.norm > 0 or any(m.change) for m in side[param].values())

    def _report_missing(self, mine: Sequence[int], others: Sequence[int]) -> None:
        unowned = [o for s in self.other.steps[:1] for o in s.others if o.parameter]
        for param in mine:
            first = self.names[param].first if param in self.names else []
            kept = any(gap(first, o.values) < TOLERANCE for o in unowned if first)
            kind: Kind = "lost" if kept else "parameters"
            what = "is in no optimizer any more" if kept else "is not there any more"
            self.found.append(Difference(0, kind, what, self._name(param)))
        names = {p.id: p.name for p in self.other.parameters}
        for param in others:
            self.found.append(Difference(0, "parameters", "is new", names.get(param, "")))

    def _count_steps(self) -> None:
        """Whether a run that came to its end took fewer steps than the other."""
        ours, theirs = totals(self.one), totals(self.other)
        finished = [t.ended is not None and t.ended.reason == "finished" for t in self._both]
        for param, count in ours.items():
            other = theirs.get(self.number.get(param, -1), count)
            if (finished[0] and other > count) or (finished[1] and other < count):
                what = f"{other} steps, where there were {count}"
                self.found.append(Difference(inf, "steps", what, self._name(param)))
                return

    def _compare_buffers(self, steps: Sequence[tuple[Step, Step]]) -> None:
        buffers = Buffers([s for _, s in numbered(self.one)])
        for ours, theirs in steps:
            if found := buffers.differ(ours.others, theirs.others, self.precision.tolerance):
                order = self.order.get(id(ours), 0)
                name, what, off = found
                self.found.append(Difference(order, "buffer", what, name, off, ours, theirs))
                return
        final = [t.final for t in self._both]
        ended = all(t.ended is not None and t.ended.reason == "finished" for t in self._both)
        if ended and final[0] is not None and final[1] is not None:
            tolerance = self.precision.tolerance
            if found := buffers.differ(final[0].others, final[1].others, tolerance):
                self.found.append(Difference(inf, "buffer", found[1], found[0], found[2]))

    def _random_from(self, steps: Sequence[tuple[Step, Step]]) -> float:
        apart = (self.order.get(id(a), 0) for a, b in steps if a.random != b.random)
        return min(apart, default=inf)

    def _loss_gap(self) -> LossGap | None:
        ours, theirs = self.one.backwards, self.other.backwards
        for a, b in zip(ours, theirs, strict=False):
            if a.visit.n != b.visit.n:
                return None
            if _losses_differ(a, b, self.precision.tolerance):
                return LossGap(a, b)
        return None


WHAT: Mapping[str, str] = {
    "value": "holds another value as the step begins",
    "gradient": "gets another gradient",
    "update": "is changed by another amount",
}


def _largest(*steps: Step) -> float:
    norms = [g.norm for step in steps for g in step.gradients]
    return max((norm for norm in norms if norm < NOT_FINITE), default=0.0)


def _is_loud(gradient: Gradient, largest: float) -> bool:
    return not gradient.none and gradient.norm > LOUD * largest


def _losses_differ(a: Backward, b: Backward, tolerance: float) -> bool:
    if a.loss is None or b.loss is None:
        return a.loss is not b.loss
    return abs(a.loss - b.loss) > tolerance * max(abs(a.loss), abs(b.loss), 1e-6)


def _norm(parts: Sequence[float]) -> float:
    return sqrt(sum(x * x for x in parts))


def _one_to_one(pairs: Sequence[tuple[Step, Step]]) -> list[tuple[Step, Step]]:
    """Pairs of steps without another counterpart: optimizers were neither joined nor split."""
    ours, theirs = Counter(id(a) for a, _ in pairs), Counter(id(b) for _, b in pairs)
    return [(a, b) for a, b in pairs if ours[id(a)] == theirs[id(b)] == 1]


def _at(side: Moments, params: Sequence[int], k: int) -> list[Moment]:
    return [side[p][k] for p in params if k in side[p]]


def _sizes(trace: Trace, params: Sequence[int]) -> int:
    """How many numbers they hold together."""
    wanted = set(params)
    total = 0
    for parameter in {p.id: p for p in trace.parameters}.values():
        if parameter.id in wanted:
            size = 1
            for length in parameter.shape:
                size *= length
            total += size
    return total
