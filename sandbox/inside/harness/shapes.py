"""From the error of a harness to a better guess: which tensor should have had which shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from types import TracebackType

import torch

from .context import CurrentHarness
from .fitting import (
    of_listed,
    of_longer,
    of_masks,
    of_samples,
    of_truths,
)
from .functions import Wished, asked_of, of_products
from .lineage import came_of, flat, ints, made_for, origin, shape_of, sources, traced
from .modules import asked_by
from .placeholders import Placeholder
from .plan import ValuePlan
from .size_messages import Failure, of_complaints, of_mismatches
from .taking_apart import scopes

RANK = 6  # videos, in batches of sequences
_FEWER = re.compile(  # so many were wanted, so many were there
    r"not enough values to unpack \(expected (\d+), got (\d+)\)"
    r"|[Ee]xpected (?:input )?(?:to be )?(\d)D.*got (?:input of size: )?\(?(\d)"
    r"|at least (\d)D tensors, .*got: (\d)D"
)
_OF_AXES = r"input\.dim\(\) = (\d) is not equal to len\(dims\) = (\d)"
_FACTOR = re.compile(r"advantage|reward|return|delta|target|weight|coef|\[\]\[[1-9]\]")
_ONE_NUMBER = (
    "more than one value|unsupported format string|converted to Scalar|only one element tensors"
)
_TOO_FEW = re.compile(
    r"too many indices|must be at least|must be (?:a )?\d-?D|must have 3 dim"
    r"|tuple index out of range|number of dims|dimension specified"
)


def refitted(plan: ValuePlan, failure: Failure) -> Iterator[ValuePlan]:
    """Yield plans under which this failure should not come again, the likeliest first.

    What an earlier failure decided is right until nothing else helps.
    """

    def decided(wished: tuple[str, Wished]) -> bool:
        return wished[0] in (plan.whole if isinstance(wished[1], int) else plan.shapes)

    for path, wish in sorted(_wishes(failure), key=decided):
        better = _with(plan, path, wish)
        if better is not None and better != plan:
            yield better


def _with(plan: ValuePlan, path: str, wish: Wished) -> ValuePlan | None:
    if isinstance(wish, str):
        return plan.with_kind(path, wish)
    if isinstance(wish, int):
        return plan.with_whole(path, max(wish, 1))
    if len(wish) > RANK or any(not 0 <= n <= 4096 for n in wish) or prod(wish) > 1 << 22:
        return None
    return plan.with_shape(path, wish)


def _wishes(failure: Failure) -> Iterator[tuple[str, Wished]]:
    message = str(failure.error)
    made = [(path, tensor) for tensor in flat(failure.args) if (path := made_for(tensor))]
    inner = list(scopes(failure.error.__traceback__))[::-1]
    yield from asked_by(inner)
    yield from asked_of(failure.function, failure.args)
    yield from of_products(failure.args, message)
    yield from of_truths(failure.args, message)
    yield from of_masks(failure.function, failure.args)
    yield from of_listed(inner, message)
    yield from of_samples(inner, message)
    yield from _of_indices(failure, message, made)
    if found := re.search(r"expand\(.*size=\[([\d, ]*)\]", message):
        for path, _ in reversed(made):
            yield path, [int(n) for n in found[1].split(",") if n.strip()]
    if "does not require grad and does not have a grad_fn" in message:
        yield from _of_leaves(failure)
    if "implicitly created only for scalar" in message:
        yield from _of_factors(failure)
    if re.search(_ONE_NUMBER, message):
        for path, tensor in made:
            if tensor.dim():
                yield path, []
        yield from _of_one(failure)
    yield from of_complaints(failure, message, made)
    yield from _of_ranks(failure, message, made)
    yield from _of_partners(failure, made)
    yield from of_mismatches(failure, message)


def _of_indices(
    failure: Failure, message: str, made: list[tuple[str, torch.Tensor]]
) -> Iterator[tuple[str, Wished]]:
    """Yield whole numbers where these are asked for, and long enough tensors for them to index."""
    if re.search(
        r"dtype (?:to be )?Long|dtype int|type Long|Long, Int|torch\.LongTensor"
        r"|must be.*int(?:eger|64|egral)|indices must be|used as indices"
        r"|^(?!.*bitwise_).*not implemented for '(?:Float|Double)'",  # those: truth values
        message,
    ):
        indexed = failure.function == "__getitem__"
        for tensor in reversed(list(flat(failure.args[indexed:]))):
            if (path := origin(tensor) or came_of(tensor)) and tensor.is_floating_point():
                yield path, 2
    if re.search(r"not implemented for '(?:Long|Int)'|floating point|dtype.*Long", message):
        for path, tensor in made:
            if not tensor.is_floating_point():
                yield path, list(tensor.shape)
    if found := re.search(
        r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)", message
    ):
        for path, tensor in made:
            if not tensor.is_floating_point():
                yield path, int(found[3])
            elif tensor.dim() > int(found[2]):
                longer = list(map(int, tensor.shape))
                longer[int(found[2])] = max(abs(int(found[1])) + 1, 2 * int(found[3]))
                yield path, longer
        yield from of_longer(failure.args, *map(int, found.groups()))
    if "index out of range in self" in message:
        for tensor in flat(failure.args):
            if not tensor.is_floating_point() and (found_data := traced(tensor, [])):
                yield found_data[0], 2


def _of_ranks(
    failure: Failure, message: str, made: list[tuple[str, torch.Tensor]]
) -> Iterator[tuple[str, Wished]]:
    """Yield the same with more dimensions for tensors with too few."""
    more = 0
    if found := re.search(r"range of \[-\d+, (-?\d+)\], but got (-?\d+)", message):
        high, got = int(found[1]), int(found[2])
        several = [n for one in failure.args if isinstance(one, tuple | list) for n in ints(one)]
        more = max([got, *several]) - high if got >= 0 else -got - high - 1
    elif found := re.search(_FEWER, message):
        wanted, got = [int(number) for number in found.groups() if number]
        more = wanted - got
    elif found := re.search(_OF_AXES, message):
        more = int(found[2]) - int(found[1])
    elif re.search(_TOO_FEW, message):
        more = 1
    if not 0 < more < 5:
        return
    for tensor in flat(failure.args) if not made else ():
        path = came_of(tensor)
        shape = shape_of(path) if path else []
        if path and len(shape) > 1:  # what has passed a layer keeps the size that this wants
            yield path, [*shape[:-1], *[8] * more, shape[-1]]
    candidates = made or list(_held(failure.error.__traceback__))
    for path, tensor in candidates:
        own = list(map(int, tensor.shape))
        behind = traced(tensor, [*own, *[8] * more]) or (path, [*own, *[8] * more])
        in_front = path, [*own[:1] * more, *own]  # what goes with the shorter one, too
        yield from (in_front, behind) if "at least" in message else (behind, in_front)


def _of_one(failure: Failure) -> Iterator[tuple[str, Wished]]:
    """Yield one example in place of a batch for the source of a single number."""
    for tensor in flat(failure.args):
        path = came_of(tensor)
        shape = shape_of(path) if path else []
        if path and len(shape) > 1 and shape[0] == tensor.numel():
            yield path, [1, *shape[1:]]
            yield path, shape[1:]
        elif path and 0 < tensor.dim() < len(shape):
            yield path, shape[: -tensor.dim()]


def _of_partners(
    failure: Failure, made: list[tuple[str, torch.Tensor]]
) -> Iterator[tuple[str, Wished]]:
    """Yield the shapes of a function's other arguments: both alike, unless it says otherwise."""
    if isinstance(failure.error, Placeholder):
        return
    others = [t for t in flat(failure.args) if t.dim()]
    for path, tensor in made:
        for other in others:
            if other is not tensor and list(other.shape) != list(tensor.shape):
                yield traced(tensor, list(map(int, other.shape))) or (
                    path,
                    list(map(int, other.shape)),
                )
    for tensor in others:
        for other in others:
            if found := traced(tensor, list(map(int, other.shape))):
                path, shape = found
                as_it_is = shape == shape_of(path) and len(shape) == other.dim()
                yield path, list(map(int, other.shape)) if as_it_is else shape


def _of_leaves(failure: Failure) -> Iterator[tuple[str, Wished]]:
    """Yield parameters for a root that depends on nothing that learns.

    Candidates are its sources with a name of the script's own, or of its object; data that it is
    given are none.
    """
    for tensor in flat(failure.args[:1]):
        for path in sources(tensor):
            if re.fullmatch(r"(?:\w+\.)?self\.\w+|\w+", path):
                yield path, "leaf"


def _of_factors(failure: Failure) -> Iterator[tuple[str, Wished]]:
    """Yield numbers for a loss with several values.

    What it was indexed by may be one whole number; what it was multiplied with may be one number.
    """
    named = (v for names in scopes(failure.error.__traceback__) for v in names.values())
    tensors = (tensor for value in named for tensor in flat(value) if tensor.dim())
    for index in (tensor for tensor in tensors if not tensor.is_floating_point()):
        path = came_of(index) if not made_for(index) else None
        if path and index.dim() < len(shape := shape_of(path)):
            yield path, shape[: -index.dim()]
    held = [(path, t) for path, t in _held(failure.error.__traceback__) if t.dim()]
    held += [
        (p, t)
        for v in CurrentHarness.harness.values.values()
        for t in flat(v)
        if (p := made_for(t))
    ]

    def unlikely(one: tuple[str, torch.Tensor]) -> tuple[bool, bool, bool]:
        path = one[0]
        return not _is_factor(path), not _FACTOR.search(path.lower()), path.endswith(")")

    for path, _ in sorted(held, key=unlikely):
        yield path, []


def _is_factor(path: str) -> bool:
    """Return True if the script multiplies something with the value, or an item of it."""
    uses = CurrentHarness.harness.uses.of
    return any(use.factor and other.startswith(path) for other, use in uses.items())


def _held(traceback: TracebackType | None) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield synthesized tensors of the innermost frames' names; else of all of the script's."""
    found = False
    for names in [CurrentHarness.harness.values, *scopes(traceback)][::-1]:
        for value in [] if found and names is CurrentHarness.harness.values else names.values():
            for tensor in flat(value):
                if path := made_for(tensor):
                    found = True
                    yield path, tensor
