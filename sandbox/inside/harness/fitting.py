"""From tensors whose sizes do not fit one another to the sizes of what they came of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import torch
from torch.distributions import Distribution

from ..stubs import sizes
from .context import CurrentHarness
from .functions import Wishes
from .lineage import came_of, flat, made_for, origin, shape_of, sources
from .uses import NUMERIC

MAKING = NUMERIC - {"range", "min", "max"}


def of_fewer(args: tuple[Any, ...]) -> Wishes:
    """Yield fewer dimensions for the source of the joined tensors of higher rank."""
    given = list(flat(args))
    least = min((t.dim() for t in given), default=0)
    for tensor in given:
        own = made_for(tensor)
        for path in (own,) if own else sources(tensor):
            shape = shape_of(path)
            if least < tensor.dim() <= least + len(shape):
                yield path, shape[tensor.dim() - least :]


def of_scalars(args: tuple[Any, ...]) -> Wishes:
    """Yield a single number as the source of one item of a tensor: a step of time."""
    for tensor in flat(args):
        path = made_for(tensor) or came_of(tensor)
        shape = shape_of(path) if path else []
        if path and 0 < tensor.dim() < len(shape) and [*tensor.shape] == shape[-tensor.dim() :]:
            yield path, shape[: -tensor.dim()]


def of_small(args: tuple[Any, ...]) -> Wishes:
    """Yield an eightfold length for the source of what a kernel is larger than."""
    for tensor in flat(args[:1]):
        path = made_for(tensor) or came_of(tensor)
        shape = shape_of(path) if path else []
        if path and shape:
            sides = min(max(tensor.dim() - 2, 1), len(shape))
            yield path, [*shape[:-sides], *(8 * n for n in shape[-sides:])]


def of_flattened(args: tuple[Any, ...], message: str) -> Wishes:
    """Yield the length of the source of a flattened input that has too many or too few numbers."""
    found = re.search(r"\(\d+x(\d+) and (\d+)x", message)
    path = came_of(args[0]) if found and args and isinstance(args[0], torch.Tensor) else None
    shape = shape_of(path) if path else []
    if found and path and shape and int(found[1]):
        yield path, [*shape[:-1], max(round(shape[-1] * int(found[2]) / int(found[1])), 1)]


def of_last(args: tuple[Any, ...], one: int, other: int) -> Wishes:
    """Yield the last dimension of the source of one of two tensors that do not fit.

    It is to be as long as the other.
    """
    for tensor in flat(args):
        path = came_of(tensor) if not made_for(tensor) else None
        shape = shape_of(path) if path else []
        if path and shape and tensor.dim() and tensor.shape[-1] == shape[-1] in (one, other):
            yield path, [*shape[:-1], other if shape[-1] == one else one]


def of_equations(args: tuple[Any, ...], rows: int) -> Wishes:
    """Yield one number for each of so many linear equations as the right-hand side."""
    for tensor in flat(args):
        path = made_for(tensor) or came_of(tensor)
        if path and tensor.shape[-2:-1] != (rows,):
            yield path, [rows]


def of_truths(args: tuple[Any, ...], message: str) -> Iterator[tuple[str, str]]:
    """Yield masks for what is joined and inverted like truth values."""
    if re.search(r"bitwise_\w+. not implemented for 'Float'|[Bb]oolean(?: masks|-type)", message):
        for tensor in reversed(list(flat(args))):
            path = origin(tensor) or came_of(tensor)
            if path and tensor.is_floating_point():
                yield path, "mask"


def of_masks(function: str, args: tuple[Any, ...]) -> Wishes:
    """Yield the sizes of a mask in an index: those of the dimensions that it selects from."""
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
    """Yield whole numbers without rows for the source of what a frame uses as whole numbers.

    The frame iterates over its rows or its numbers.
    """
    if "'list' and '" not in message and "(got float)" not in message:
        return
    for names in scopes:
        taken = [value for value in names.values() if isinstance(value, list | float)]
        for value in names.values():
            path = made_for(value)
            if path and value.dim() and any(one in value.tolist() for one in taken):
                yield path, shape_of(path)[:-1] if value.dim() > 1 else 2


def of_samples(scopes: Iterable[dict[str, Any]], message: str) -> Wishes:
    """Yield the distribution's shape, and possible values, for what its likelihood is asked of.

    Possible values are whole numbers of so many.
    """
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
    """Yield single numbers for bounds of a slice, and for counts in a list of indices."""
    for bound in _bounds(args):
        if (path := came_of(bound)) and bound.dim():
            yield path, shape_of(path)[: -bound.dim()]
    for given in args[1:]:
        for one in given if isinstance(given, list) else ():
            if path := made_for(one):
                yield path, "count"


def _bounds(given: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors between which an index slices."""
    if isinstance(given, slice):
        yield from flat((given.start, given.stop))
    elif isinstance(given, list | tuple):
        for one in given:
            yield from _bounds(one)


def of_longer(args: tuple[Any, ...], index: int, axis: int, size: int) -> Wishes:
    """Yield a longer axis for the source of a tensor that ends before the index."""
    for tensor in flat(args):
        path = came_of(tensor)
        shape = shape_of(path) if path and not made_for(tensor) else []
        if path and axis < len(shape) and shape[axis] == size:
            more = max(abs(index) + 1, 2 * size)
            yield path, [more if n == axis else one for n, one in enumerate(shape)]


def of_rows(args: tuple[Any, ...]) -> Wishes:
    """Yield fewer dimensions for the source of the tensor of higher rank, of two with equal
    rows."""
    given = [tensor for tensor in flat(args) if tensor.dim()]
    for tensor in given:
        path = made_for(tensor) or came_of(tensor)
        shape = shape_of(path) if path else []
        for other in given:
            less = tensor.dim() - other.dim()
            if path and tensor.shape[0] == other.shape[0] and 0 < less < len(shape):
                yield path, shape[:-less]


def of_arrays(one: list[int], other: list[int]) -> Wishes:
    """Yield a new size for data whose last size one of two arrays that do not fit has."""
    for (*_, size), (*_, wanted) in ((one, other), (other, one)):
        for path, shape in sizes.made.items():
            if shape and shape[-1] == size != wanted:
                yield path, [*shape[:-1], wanted]


def of_more(args: tuple[Any, ...]) -> Wishes:
    """Yield a larger size for the source of what does not fit a tensor of the script's own.

    That source has the size beyond those that an index took.
    """
    given = [tensor for tensor in flat(args) if tensor.dim()]
    own = [tensor for tensor in given if not sources(tensor)]
    for tensor in given:
        path = None if made_for(tensor) else came_of(tensor)
        if path is not None:
            yield from ((path, [*shape_of(path), int(other.shape[-1])]) for other in own)


def of_numbers(args: tuple[Any, ...], one: int, other: int) -> Wishes:
    """Yield changes for so many numbers against so many others.

    The source of one of the tensors has rows where each should be a number
    (`scale[t].view(-1, 1)`), or another number of rows than what is made of each of them needs
    (`torch.stack([f(row) for row in rows])`); or a number of the script's is to be another
    (`torch.zeros(n_classes)`).
    """
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
    """Yield synthesized numbers that the size of something was taken from."""
    harness = getattr(CurrentHarness, "harness", None)  # sizes are found by trial without one, too
    for path, value in harness.values.items() if harness is not None else ():
        if type(value) is int and value == size and _sizes(path):
            yield path, wanted


def _sizes(path: str) -> bool:
    """Return True if the script makes tensors or layers of as many items as a number says."""
    given_to = CurrentHarness.harness.use(path).given_to
    return bool(given_to & MAKING) or any(name[:1].isupper() for name in given_to)
