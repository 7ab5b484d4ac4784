"""Explains a scaler that found no gradient: which parameter got none, and where it was lost."""

from __future__ import annotations

from itertools import islice
from typing import Any

import torch

from ..core.frames import Json
from ..core.holders import ReferrerSearch
from ..recorders.graph_ends import GraphEnd
from ..recorders.graph_losses import LossLog
from . import failure

NO_CHECKS = "No inf checks were recorded"
MANY = 64  # parameters of an optimizer that are asked


def explained(error: BaseException, log: LossLog | None, bare: Json | None) -> Json | None:
    """Return the record of a missing graph that explains the error; None for other errors.

    It is the loss's, if that was a leaf (`bare`); else that of the optimizer's first parameter
    whose gradient is known to be lost. `how` is `unscaled` if nothing is more specific.
    """
    if NO_CHECKS not in str(error):
        return None
    places = failure.user_entries(error)
    raised = {
        "t": "missing",
        "message": str(error),
        "at": failure.place_of(places[-1]) if places else None,
        "stack": [failure.place_of(entry) for entry in places][-40:],
    }
    if bare is not None:
        return {**bare, **raised}
    owned = list(islice(_owned(error), MANY))
    lost = next(
        ((leaf, ended) for leaf in owned if log is not None and (ended := log.of_leaf(leaf))), None
    )
    frame = places[-1].tb_frame if places else None
    if lost is None:
        return {**raised, "how": "unscaled"}
    leaf, ended = lost
    search = ReferrerSearch(lambda tensor: tensor is leaf, leaves=True)
    names = [name.record("now") for name, _ in search.around(frame)][:32]
    return {**raised, "holders": names, **_where(ended)}


def _where(ended: GraphEnd) -> Json:
    return {
        "how": "starved",
        "ended_at": ended.at,
        "ended_stack": list(ended.stack),
        "op": ended.op,
    }


def _owned(error: BaseException) -> Any:
    """Return the parameters of the optimizer that the scaler was given."""
    entries = list(failure.entries(error.__traceback__))
    for entry in reversed(entries):
        optimizer = entry.tb_frame.f_locals.get("optimizer")
        if isinstance(optimizer, torch.optim.Optimizer):
            for group in optimizer.param_groups:
                yield from (p for p in group["params"] if isinstance(p, torch.Tensor))
            return
