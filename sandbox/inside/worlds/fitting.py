"""From tensors whose sizes do not fit one another to the sizes of what they came of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import torch
from torch.distributions import Distribution

from ..standins import sizes
from .functions import Wishes
from .here import Here
from .lineage import came_of, flat, made_for, origin, shape_of, sources
from .uses import NUMERIC

MAKING = NUMERIC - {"range", "min", "max"}


def of_fewer(args: tuple[Any, ...]) -> Wishes:
    """Of tensors that are put together, what those with more dimensions came of has too many."""
    given = list(flat(args))
    least = min((t.dim() for t in given), default=0)
    for tensor in given:
        own = made_for(tensor)
        for path in (own,) if own else sources(tensor):
            shape = shape_of(path)
            if least < tensor.dim() <= least + len(shape):
                yield path, shape[tensor.dim() - least :]


def of_scalars(args: tuple[Any, ...]) -> Wishes:
    """What came of one item of a tensor may as well be a single number: a step of time."""
    for tensor in flat(args):
        path = made_for(tensor) or came_of(tensor)
        shape = shape_of(path) if path else []
        if path and 0 < tensor.dim() < len(shape) and [*tensor.shape] == shape[-tensor.dim() :]:
            yield path, shape[: -tensor.dim()]


def of_small(args: tuple[Any, ...]) -> Wishes:
    """What a kernel is larger than came of something too short: eight times as long."""
    for tensor in flat(args[:1]):
        path = made_for(tensor) or came_of(tensor)
        shape = shape_of(path) if path else []
        if path and shape:
            sides = min(max(tensor.dim() - 2, 1), len(shape))
            yield path, [*shape[:-sides], *(8 * n for n in shape[-sides:])]


def of_flattened(args: tuple[Any, ...], message: str) -> Wishes:
    """What a layer takes too many or too few numbers of, flattened, came of something as much too
    long or too short."""
    found = re.search(r"\(\d+x(\d+) and (\d+)x", message)
    path = came_of(args[0]) if found and args and isinstance(args[0], torch.Tensor) else None
    shape = shape_of(path) if path else []
    if found and path and shape and int(found[1]):
        yield path, [*shape[:-1], max(round(shape[-1] * int(found[2]) / int(found[1])), 1)]


def of_last(args: tuple[Any, ...], one: int, other: int) -> Wishes:
    """What is as long as one of two that do not fit is to be as long as the other: what came of
    something else, in its last dimension."""
    for tensor in flat(args):
        path = came_of(tensor) if not made_for(tensor) else None
        shape = shape_of(path) if path else []
        if path and shape and tensor.dim() and tensor.shape[-1] == shape[-1] in (one, other):
            yield path, [*shape[:-1], other if shape[-1] == one else one]


def of_equations(args: tuple[Any, ...], rows: int) -> Wishes:
    """The right-hand side of so many linear equations has a number for each."""
    for tensor in flat(args):
        path = made_for(tensor) or came_of(tensor)
        if path and tensor.shape[-2:-1] != (rows,):
            yield path, [rows]


def of_truths(args: tuple[Any, ...], message: str) -> Iterator[tuple[str, str]]:
    """What is joined and turned over like truth values, or masks, is a mask."""
    if re.search(r"bitwise_\w+. not implemented for 'Float'|[Bb]oolean(?: masks|-type)", message):
        for tensor in reversed(list(flat(args))):
            path = origin(tensor) or came_of(tensor)
            if path and tensor.is_floating_point():
                yield path, "mask"


def of_masks(function: str, args: tuple[Any, ...]) -> Wishes:
    """A mask in an index has the sizes of the dimensions that it chooses from: all those left."""
    if function not in ("__getitem__", "__setitem__") or not isinstance(args[0], torch.Tensor):
        return
    whole, given, first = args[0], args[1], 0
    for part in given if isinstance(given, tuple) else (given,):
        if not isinstance(part, torch.Tensor) or part.dtype != torch.bool:
            first += part is not None
            continue
        rest = list(map(int, whole.shape[first:]))
        if (path := origin(part) or came_of(part)) and rest and rest != [*part.shape]:
            pairs = enumerate(zip(rest, part.shape, strict=False))
            alike = next(
                (n for n, (one, other) in pairs if one != other), min(len(rest), part.dim())
            )
            yield path, [*shape_of(path)[:alike], *rest[alike:]]
        first += part.dim()


def of_listed(scopes: Iterable[dict[str, Any]], message: str) -> Wishes:
    """What a frame takes for whole numbers, and are the rows of what it lists, or its numbers: that
    has no rows, and whole numbers."""
    if "'list' and '" not in message and "(got float)" not in message:
        return
    for names in scopes:
        taken = [value for value in names.values() if isinstance(value, list | float)]
        for value in names.values():
            path = made_for(value)
            if path and value.dim() and any(one in value.tolist() for one in taken):
                yield path, shape_of(path)[:-1] if value.dim() > 1 else 2


def of_samples(scopes: Iterable[dict[str, Any]], message: str) -> Wishes:
    """What a distribution is asked the likelihood of has its shape, and is a value that it may
    take: a whole number of so many."""
    fits = re.search(r"not broadcastable with .*vs torch\.Size\(\[([\d, ]*)\]\)", message)
    if fits is None and "to be within the support" not in message:
        return
    for names in scopes:
        asked, value = names.get("self"), names.get("value")
        if not isinstance(asked, Distribution) or not isinstance(value, torch.Tensor):
            continue
        path = made_for(value) or came_of(value)
        support: Any = asked.support
        if path and fits is not None:
            yield path, [int(n) for n in fits[1].split(",") if n.strip()]
        elif path and support.is_discrete:
            yield path, int(torch.as_tensor(getattr(support, "upper_bound", 1)).max()) + 1


def of_single(args: tuple[Any, ...]) -> Wishes:
    """A bound of a slice is one number; so is what a list of indices has, which is a count."""
    for bound in _bounds(args):
        if (path := came_of(bound)) and bound.dim():
            yield path, shape_of(path)[: -bound.dim()]
    for given in args[1:]:
        for one in given if isinstance(given, list) else ():
            if path := made_for(one):
                yield path, "count"


def _bounds(given: Any) -> Iterator[torch.Tensor]:
    """The tensors between which an index slices."""
    if isinstance(given, slice):
        yield from flat((given.start, given.stop))
    elif isinstance(given, list | tuple):
        for one in given:
            yield from _bounds(one)


def of_longer(args: tuple[Any, ...], index: int, axis: int, size: int) -> Wishes:
    """What a tensor came of that ends before the index has more along that axis."""
    for tensor in flat(args):
        path = came_of(tensor)
        shape = shape_of(path) if path and not made_for(tensor) else []
        if path and axis < len(shape) and shape[axis] == size:
            more = max(abs(index) + 1, 2 * size)
            yield path, [more if n == axis else one for n, one in enumerate(shape)]


def of_rows(args: tuple[Any, ...]) -> Wishes:
    """Of two with as many rows, what that with more dimensions came of has too many."""
    given = [tensor for tensor in flat(args) if tensor.dim()]
    for tensor in given:
        path = made_for(tensor) or came_of(tensor)
        shape = shape_of(path) if path else []
        for other in given:
            less = tensor.dim() - other.dim()
            if path and tensor.shape[0] == other.shape[0] and 0 < less < len(shape):
                yield path, shape[:-less]


def of_arrays(one: list[int], other: list[int]) -> Wishes:
    """Of two arrays that do not fit, one came of data of its last size: as many as the other."""
    for (*_, size), (*_, wanted) in ((one, other), (other, one)):
        for path, shape in sizes.made.items():
            if shape and shape[-1] == size != wanted:
                yield path, [*shape[:-1], wanted]


def of_more(args: tuple[Any, ...]) -> Wishes:
    """What does not fit a tensor of the text's own, by its last size, came of what has that size
    beyond those that an index took."""
    given = [tensor for tensor in flat(args) if tensor.dim()]
    own = [tensor for tensor in given if not sources(tensor)]
    for tensor in given:
        path = None if made_for(tensor) else came_of(tensor)
        if path is not None:
            yield from ((path, [*shape_of(path), int(other.shape[-1])]) for other in own)


def of_numbers(args: tuple[Any, ...], one: int, other: int) -> Wishes:
    """So many numbers and so many others: what one of the tensors came of has rows where each
    should be a number (`scale[t].view(-1, 1)`), or another number of rows than what is made of
    each of them wants (`torch.stack([f(row) for row in rows])`); or a number of the text's is to
    be another (`torch.zeros(n_classes)`)."""
    for tensor, (size, wanted) in product(flat(args), ((one, other), (other, one))):
        if size not in tensor.shape or made_for(tensor):
            continue
        parts = len(getattr(tensor, "_made_of", ()))
        for path in sources(tensor):
            shape = shape_of(path)
            if shape[1:] and size == wanted * torch.Size(shape[1:]).numel() != wanted:
                yield path, shape[:1]
            if size == parts == (shape or [0])[0]:
                yield path, [wanted, *shape[1:]]
    yield from _of_settings(one, other)
    yield from _of_settings(other, one)


def _of_settings(size: int, wanted: int) -> Wishes:
    """Numbers that were made up for the text, and that the size of something was taken from."""
    world = getattr(Here, "world", None)  # sizes are found by trial without one, too
    for path, value in world.values.items() if world is not None else ():
        if type(value) is int and value == size and _sizes(path):
            yield path, wanted


def _sizes(path: str) -> bool:
    """Whether the text makes tensors or layers of as many items as a number says."""
    given_to = Here.world.use(path).given_to
    return bool(given_to & MAKING) or any(name[:1].isupper() for name in given_to)
