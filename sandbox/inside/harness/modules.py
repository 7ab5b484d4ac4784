"""The shapes that torch's own modules want of what they are given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from .functions import Wishes, of_parts, rank
from .layers import BATCH, fits, taken_by
from .lineage import came_of, made_for, shape_of, traced
from .placeholders import Placeholder


def asked_by(scopes: Iterable[dict[str, Any]]) -> Wishes:
    """Yield what the innermost of torch's modules accepts.

    `scopes` are the names of the frames in which an error passed, the innermost first.
    """
    innermost = None
    for names in scopes:
        module = names.get("self")
        given: Any = names.get("orig_input", names.get("input"))
        if not isinstance(module, nn.Module) or type(module).__module__[:9] != "torch.nn.":
            continue
        innermost = innermost or module
        if module is not innermost:
            return
        if given is None:  # it is only being made, or looks at something else
            continue
        wanted = taken_by(module)
        if wanted is None:
            return
        convolves = isinstance(module, nn.modules.conv._ConvNd)
        axis = 1 - len(wanted) if convolves else -1
        yield from of_parts(given, wanted[axis], axis)
        path = made_for(given)
        if path and isinstance(given, torch.Tensor) and fits(given, wanted):
            path = None
        if found := traced(given, wanted):
            yield found
        elif path:
            yield path, wanted
        elif isinstance(given, Placeholder):
            yield given._path, "tensor"
        elif isinstance(given, torch.Tensor):
            yield from _of_what_it_came_of(given, wanted)
        hidden = names.get("hx")
        if isinstance(module, nn.RNNBase):
            yield from _of_states(module, given, hidden)
        for number, one in enumerate(hidden if isinstance(hidden, tuple) else (hidden,)):
            if isinstance(module, nn.RNNBase) and (held := made_for(one)):
                layers = module.num_layers * (2 if module.bidirectional else 1)
                batch = given.shape[0 if module.batch_first else 1] if rank(given) == 3 else BATCH
                yield held, [layers, int(batch), module.hidden_size]
            if isinstance(module, nn.RNNCellBase) and (held := made_for(one)):
                yield held, [int(given.shape[0]) if rank(given) > 1 else BATCH, module.hidden_size]
            assert number < 2


def _of_what_it_came_of(given: torch.Tensor, wanted: list[int]) -> Wishes:
    """Yield sizes of the source of what was computed with as many dimensions.

    It has the source's sizes, or multiples of them; after the rows, they are to be as wanted.
    """
    path, own = came_of(given), list(map(int, given.shape))
    shape = shape_of(path) if path else []
    if path is None or len(shape) != len(own):
        return
    ends = [*own[: -len(wanted)], *wanted][-len(own) :]
    sizes = zip(shape[1:], own[1:], ends[1:], strict=True)
    yield path, [shape[0], *(_resized(old, now, new) for old, now, new in sizes)]


def _resized(old: int, now: int, wanted: int) -> int:
    """Return the size of the parts of something that is to have the wanted one."""
    times, rest = divmod(now, old) if old else (0, 1)
    return wanted // times if times and not rest and wanted % times == 0 else old


def _of_states(module: nn.RNNBase, given: Any, hidden: Any) -> Wishes:
    """Yield a batch as large as that of the states that the script itself makes."""
    states = hidden if isinstance(hidden, tuple) else (hidden,)
    size = next((int(h.shape[1]) for h in states if rank(h) == 3 and not made_for(h)), 0)
    path, axis = made_for(given), 0 if module.batch_first else 1
    if path is None and size and (path := came_of(given)):
        rows, *others = shape_of(path) or [0]
        if rank(given) == 3 and rows == given.shape[axis] != size:
            yield path, [size, *others]
        return
    if path is None or not size:
        return
    if rank(given) == 2:
        yield path, [size, *given.shape] if axis == 0 else [given.shape[0], size, given.shape[1]]
    elif given.shape[axis] != size:
        yield path, [size if n == axis else int(d) for n, d in enumerate(given.shape)]
