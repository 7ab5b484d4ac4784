"""Yields plans that differ in what the uses of names do not decide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .plan import ValuePlan


@dataclass(frozen=True)
class Choices:
    """What else a text leaves open: `elided`, something in a loop; `absent`, what it imports from
    packages that are not here; `part`, a loop around it; `optional`, arguments that may be None;
    `rooted`, a backward call on what it computes."""

    elided: bool = False
    absent: bool = False
    part: bool = False
    optional: bool = False
    rooted: bool = False


def variants(
    base: ValuePlan, kind: str | None, choices: Choices, *, ran: bool
) -> Iterator[ValuePlan]:
    """Yield variants of a plan, the likeliest for this kind of error first.

    `ran`: backward ran to a good end, once for each call.
    """
    if choices.elided:
        yield replace(base, carried=True)
    first = {"leaf": ["leaf"], "view": ["leaf", "graph"], "reuse": ["graph"]}.get(
        kind or "", ["graph", "leaf"]
    )
    for change in (
        *({"rooted": True, "data": d} for d in ("plain", "graph") if choices.rooted),
        *([{"rooted": True, "looped": True}] if choices.rooted else []),
        *([{"optional": True}] if choices.optional else []),
        *([{"looped": True}] if ran and choices.part else []),
        *([{"longer": True}] if ran else []),
        *([{"repeats": True}] if kind == "reuse" else []),
        *({"data": data} for data in first),
        *({"optional": True, "data": d} for d in first if choices.optional),
        {"shared": True},
        {"weights": True},
        {"weights": True, "data": "graph"},
        {"shared": True, "moves": False},
        {"shared": True, "data": "graph"},
        {"data": "leaf"},
        {"data": "graph", "moves": False},
        {"longer": True},
        *([{"weights": False}] if kind == "graphless" else []),
    ):
        yield replace(base, **change)  # type: ignore[arg-type]
