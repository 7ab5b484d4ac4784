"""The decisions that make a harness: data, so that patches run in the harness of the original."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

Json = dict[str, Any]


@dataclass(frozen=True)
class ValuePlan:
    """The decisions about values that the script uses and does not define.

    Keys are value paths: `netD`, `self.hidden`, `loader[][0]`, `netD()` for a call's result.
    `kinds` overrides the kind that static analysis finds; `shapes` are sizes of tensors, `whole`
    the bound of those that hold whole numbers. `data` says whether tensors that nothing in the
    script makes are `plain`, require grad as a `leaf`, or come out of a `graph`. With `shared`,
    losses and graphs that are not in the script have a part in common; with `weights`, unknown
    functions of tensors have weights as a module has; unless `moves`, a synthesized step changes no
    weight; with `repeats`, it calls a closure more than once; with `longer`, counts are larger.
    `skip` names functions that are not called. `engine` is the error of a hand-written engine
    (`Exception: Cannot …`): undefined values are then of such an engine, not torch's. With
    `carried`, a `…` in a loop recomputes what the loop's names hold. With `absent`, imports of
    missing packages are synthesized by their use, like undefined names. With `looped`, the script's
    body runs several times, as in a loop that was not sent. With `optional`, functions also get
    optional arguments (`mask=None`). With `rooted`, backward is called on what a text without any
    backward call computes last. `omitted` are statements that only report.
    """

    kinds: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, list[int]] = field(default_factory=dict)
    whole: dict[str, int] = field(default_factory=dict)
    data: str = "plain"
    shared: bool = False
    weights: bool = False
    moves: bool = True
    repeats: bool = False
    longer: bool = False
    skip: tuple[str, ...] = ()
    engine: str = ""
    carried: bool = False
    absent: bool = False
    looped: bool = False
    optional: bool = False
    rooted: bool = False
    omitted: tuple[str, ...] = ()

    def with_kind(self, path: str, kind: str) -> ValuePlan:
        return replace(self, kinds={**self.kinds, path: kind})

    def with_shape(self, path: str, shape: list[int]) -> ValuePlan:
        return replace(self, shapes={**self.shapes, path: shape})

    def with_whole(self, path: str, bound: int) -> ValuePlan:
        return replace(self, whole={**self.whole, path: bound})

    def to_json(self) -> Json:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return the plan in a job, which the host has validated."""
        known = {key: data[key] for key in cls.__dataclass_fields__ if key in data}
        lists = {key: tuple(known.get(key, ())) for key in ("skip", "omitted")}
        return cls(**{**known, **lists})
