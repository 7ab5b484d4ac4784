"""The shapes that torch's functions want of what they are given: a rule for each, by its name."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import torch

from .layers import BATCH, SIDE
from .lineage import came_of, flat, ints, made_for, origin, shape_of, sources, traced

Wished = list[int] | int | str  # a shape; a bound of whole numbers; a kind
Wishes = Iterator[tuple[str, Wished]]


def asked_of(name: str, args: tuple[Any, ...]) -> Wishes:
    """Yield what the function of this name, which raised, needs synthesized values to be."""
    rule = _RULES.get(name)
    if rule is not None:
        yield from rule(*args)


def shape_shown_by(name: str, args: tuple[Any, ...]) -> tuple[str, list[int]] | None:
    """Return the shape that a call shows for a synthesized value, whether it raises or not, or
    None.

    An axis that is removed has a single item; what has fewer items than its source has one less.
    """
    match name, args:
        case "squeeze", (torch.Tensor() as tensor, int(axis)) if (
            -tensor.dim() <= axis < tensor.dim()
        ):
            path = made_for(tensor)
            if path and tensor.shape[axis] != 1:
                shape = list(map(int, tensor.shape))
                axis = axis % tensor.dim()
                more = getattr(tensor, "_given_dims", 0) > tensor.dim()
                return path, [*shape[:axis], 1, *shape[axis + (not more) :]]
    return None


def of_products(args: tuple[Any, ...], message: str) -> Wishes:
    """Yield sizes for two matrices, or one and a vector, that cannot be multiplied.

    Either takes the size of the other.
    """
    found = re.search(r"\(\d+x(\d+)(?: and |\), vec \()(\d+)", message)
    if found is None:
        return
    first, second = (*args, None, None)[:2]
    rows, inner = int(found[1]), int(found[2])
    if path := made_for(first):
        yield path, [*first.shape[:-1], inner]
    elif (path := came_of(first)) and list(first.shape) == (shape := shape_of(path)):
        yield path, [*shape[:-1], inner]
    if path := made_for(second):
        yield path, [rows, *second.shape[1:]]
    elif (path := came_of(second)) and (shape := shape_of(path))[:1] == [inner]:
        yield path, [rows, *shape[1:]]  # each of its rows was taken by itself


def of_parts(given: Any, wanted: int, axis: int = -1) -> Wishes:
    """Yield the size of one of several joined tensors, which must have so many along this axis.

    The first that was synthesized, or derives from what was, takes the difference.
    """
    for part in getattr(given, "_made_of", ()):
        if not -part.dim() <= axis < part.dim() or part.dim() != given.dim():
            continue
        held = int(part.shape[axis])
        size = held + wanted - int(given.shape[axis])
        at: int | None
        if path := made_for(part):
            shape, at = list(map(int, part.shape)), axis
        elif path := came_of(part):
            shape = list(shape_of(path))
            at = _last(shape, held)
        if path and at is not None and 0 < size != held:
            shape[at] = size
            yield path, shape


def _last(shape: list[int], size: int) -> int | None:
    """Return the last axis of this size that is none of rows, or None."""
    return next((n for n in range(len(shape) - 1, 0, -1) if shape[n] == size), None)


def _embedding(first: Any = None, second: Any = None, *_: Any) -> Wishes:
    if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor):
        weighs = first.is_floating_point() and first.dim() == 2
        weighs &= not isinstance(second, torch.nn.Parameter)
        weight, indices = (first, second) if weighs else (second, first)
        if path := origin(indices):
            yield path, int(weight.shape[0])
        elif indices.is_floating_point():  # some of one, by an index of another
            yield from ((path, int(weight.shape[0])) for path in sources(indices))


def _ctc_loss(*args: Any) -> Wishes:
    """Yield scores of time, batch and class; labels and two lengths for each of the batch."""
    scores, *others = flat(args[:4])
    if scores.dim() != 3:
        if path := origin(scores) or came_of(scores):
            yield path, [SIDE, BATCH, BATCH]
        return
    size = int(scores.shape[1])
    for tensor, wanted in zip(others, ([size, 1], [size], [size]), strict=False):
        if (path := made_for(tensor)) and list(tensor.shape) != wanted:
            yield path, wanted


def _einsum(equation: Any = None, *args: Any) -> Wishes:
    """Yield one size a letter: that of a tensor which the script makes, if one has it."""
    if not isinstance(equation, str):
        return
    given = list(flat(args))
    terms = equation.replace(" ", "").partition("->")[0].split(",")
    if "." in equation or len(terms) != len(given):
        return
    own = [(t, g) for t, g in zip(terms, given, strict=True) if len(t) == g.dim()]
    letters: dict[str, int] = dict(
        zip(sorted(set("".join(terms))), cycle((4, 5, 6, 3)), strict=False)
    )
    for term, tensor in sorted(own, key=lambda one: not made_for(one[1])):
        letters |= dict(zip(term, map(int, tensor.shape), strict=True))
    for term, tensor in zip(terms, given, strict=True):
        wanted = [letters[letter] for letter in term]
        if list(tensor.shape) == wanted:
            continue
        if data := traced(tensor, wanted):
            yield data
        elif path := made_for(tensor):
            yield path, wanted


def _cell(first: Any = None, second: Any = None, *_: Any) -> Wishes:
    state = second[0] if isinstance(second, tuple | list) else second
    if rank(state) == 2 == rank(first) and state.shape[0] != first.shape[0]:
        if path := made_for(first):
            yield path, [int(state.shape[0]), int(first.shape[1])]
        if path := made_for(state):
            yield path, [int(first.shape[0]), int(state.shape[1])]


def _linear(first: Any = None, second: Any = None, *_: Any) -> Wishes:
    if not isinstance(second, torch.Tensor):
        return
    wanted = int(second.shape[1])
    yield from of_parts(first, wanted)
    if not isinstance(first, torch.Tensor):
        return
    path = origin(first)
    shape = list(first.shape) if made_for(first) else shape_of(path) if path else []
    if path and shape[-1:] == list(first.shape[-1:]):
        yield path, [*map(int, shape[:-1]), wanted]
    if data := traced(first, [*map(int, first.shape[:-1]), wanted]):
        yield data
    if path is None and (source := came_of(first)):  # some of it, by a slice or an index
        held = shape_of(source)
        if len(held) > first.dim() and held[-1:] == list(first.shape[-1:]):
            yield source, [*held[:-1], wanted]


def _convolution(first: Any = None, second: Any = None, *_: Any, channels: int = 1) -> Wishes:
    """Yield the data's channels; `channels` is the axis of the weight that says how many."""
    if not isinstance(second, torch.Tensor):
        return
    wanted = [BATCH, int(second.shape[channels]), *[SIDE] * (second.dim() - 2)]
    if data := traced(first, wanted):
        yield data
    elif path := made_for(first):
        yield path, wanted


def _transposed(*args: Any) -> Wishes:
    yield from _convolution(*args, channels=0)


def _classes(first: Any = None, second: Any = None, weight: Any = None, *_: Any) -> Wishes:
    if not (isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor)):
        return
    classes = int(first.shape[1 if first.dim() > 1 else 0])
    if (path := made_for(weight)) and list(weight.shape) != [classes]:
        yield path, [classes]
    labels = [int(first.shape[0]), *map(int, first.shape[2:])]
    if path := origin(second):
        if list(second.shape) != labels:
            yield path, labels
        yield path, classes
    elif data := traced(second, labels):
        if list(second.shape) != labels:
            yield data
        yield data[0], classes


def _view(first: Any = None, *sizes: Any) -> Wishes:
    known = list(ints(sizes))
    if (path := made_for(first)) and any(n > 0 for n in known):
        yield path, [n if n > 0 else BATCH for n in known]
    elif isinstance(first, torch.Tensor) and known and all(n > 0 for n in known):
        yield from _of_many(first, math.prod(known))


def _of_many(given: torch.Tensor, wanted: int) -> Wishes:
    """Yield a longer or shorter axis of the source, the last first, for so many computed items."""
    for path in sources(given):
        shape = shape_of(path)
        for axis in reversed(range(len(shape))):
            size, rest = divmod(shape[axis] * wanted, given.numel() or 1)
            if size and not rest:
                yield path, [*shape[:axis], size, *shape[axis + 1 :]]


def _expand(first: Any = None, *sizes: Any) -> Wishes:
    if path := made_for(first):
        yield path, [1 if n > 1 and i else max(n, 1) for i, n in enumerate(ints(sizes))]


def _solved(given: Any = None, matrix: Any = None, *_: Any) -> Wishes:
    """Yield a right side as long as the matrix, be it of rows or of columns."""
    if not (rank(given) and rank(matrix)):
        return
    size, rest = int(matrix.shape[-1]), [*map(int, given.shape[1:])]
    if path := made_for(given):
        yield path, [size, *rest]
    elif (path := origin(given)) and shape_of(path)[::-1] == list(given.shape):
        yield path, [*rest, size]


def _solved_by(matrix: Any = None, given: Any = None, *_: Any) -> Wishes:
    yield from _solved(given, matrix)


_RULES: dict[str, Callable[..., Wishes]] = {
    "embedding": _embedding,
    "ctc_loss": _ctc_loss,
    "einsum": _einsum,
    "linear": _linear,
    **dict.fromkeys(("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"), _cell),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), _convolution),
    **dict.fromkeys((f"conv_transpose{n}d" for n in (1, 2, 3)), _transposed),
    **dict.fromkeys(("cross_entropy", "cross_entropy_loss", "nll_loss"), _classes),
    **dict.fromkeys(("view", "reshape"), _view),
    "expand": _expand,
    **dict.fromkeys(("cholesky_solve", "lu_solve", "triangular_solve"), _solved),
    **dict.fromkeys(("linalg_solve", "linalg_solve_triangular"), _solved_by),
}


def rank(value: Any) -> int:
    """Return the dimensions of a tensor; 0 for other values."""
    return value.dim() if isinstance(value, torch.Tensor) else 0
