"""Finds what learns in the place of what an optimizer holds: it was replaced once that was made."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from .deepening import GROWTH
from .frames import Json
from .parameters import Known

MOST = 64  # names that are told


def fed_instead(
    known: Sequence[Known], starved: Sequence[Known], *, any_name: bool = False
) -> Json:
    """Leaves that no optimizer has, and that get gradients in the place of these: of the same
    names, where they came later than what an optimizer had taken; of any name, where nothing that
    is trained gets one, if they have these shapes. A copy that is made for each pass is none."""
    names = {one.name for one in starved}
    learning = [
        one
        for one in known
        if one.optimizer is None
        and one.receipts >= GROWTH
        and 4 * one.renewals < one.receipts
        and one.name
        and not one.read
    ]
    fed = [one for one in learning if one.name in names]
    if not fed and any_name:
        fed = _standing_for(learning, starved)
    taken = next((one.taken for one in starved if one.taken), None)
    if not fed or taken is None:
        return {}
    instead = list(dict.fromkeys(one.name for one in fed))
    replaced = [one.name for one in starved if one.name in instead]
    told: Json = {"instead": instead[:MOST], "taken": taken}
    return told | ({"params": replaced[:MOST]} if replaced else {})


def _standing_for(learning: Sequence[Known], starved: Sequence[Known]) -> list[Known]:
    """Those that may hold the weights of all of these: of each its like, a stack of such, or all of
    them in one row; none where some have no such leaf."""
    shapes = [one.shape for one in starved]
    row = [sum(map(prod, shapes))]
    fed = [one for one in learning if one.shape in [*shapes, row] or one.shape[1:] in shapes]
    held = [shape for one in fed for shape in (one.shape, one.shape[1:])]
    return fed if row in held or all(shape in held for shape in shapes) else []
