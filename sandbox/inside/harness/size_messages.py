"""Reads from single error messages which sizes the values of a harness should have had."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from ..stubs import sizes
from .fitting import (
    of_arrays,
    of_equations,
    of_fewer,
    of_flattened,
    of_last,
    of_more,
    of_numbers,
    of_rows,
    of_scalars,
    of_single,
    of_small,
)
from .functions import Wished
from .taking_apart import of_asserted, of_parts_taken

_EXPANDED = r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)"


@dataclass(frozen=True)
class Failure:
    """What raised: the error, and the torch function with its arguments, if one did."""

    error: BaseException
    function: str = ""
    args: tuple[Any, ...] = ()


def of_complaints(
    failure: Failure, message: str, made: list[tuple[str, torch.Tensor]]
) -> Iterator[tuple[str, Wished]]:
    """Yield what single functions report that they were given too much or too little of."""
    if "integer tensors of a single element" in message:
        yield from of_single(failure.args)
    if "cannot be multiplied" in message:
        yield from of_flattened(failure.args, message)
    if "Kernel size can't be greater" in message:
        yield from of_small(failure.args)
    if "empty range" in message:  # a part of so many was to be chosen, and there are fewer
        for path, shape in sizes.made.items():
            colours = shape[2:] if len(shape) == 3 and shape[2] in (1, 3, 4) else []
            yield path, [*(4 * n for n in shape[: len(shape) - len(colours)]), *colours]
    if "square" in message:
        for path, tensor in made:
            yield path, [*map(int, tensor.shape[:-1]), int(tensor.shape[-2])]
    if "0-dim tensor" in message:
        for path, tensor in made:
            if not tensor.dim():
                yield path, [8]
    if isinstance(failure.error, AssertionError):
        yield from of_asserted(failure.error.__traceback__)
    if found := re.search(r"too many values to unpack \(expected (\d+)", message):
        yield from of_parts_taken(failure.error.__traceback__, int(found[1]))
    if found := re.search(r"each A matrix is (\d+) by", message):
        yield from of_equations(failure.args, int(found[1]))
    if "indexing tensors could not be broadcast" in message:
        yield from of_rows(failure.args[1:2])
    if found := re.search(r"batch_size \(\d+\) to match target batch_size \((\d+)\)", message):
        for path, tensor in made:
            if tensor.dim() > 1:
                yield path, [int(found[1]), *map(int, tensor.shape[1:])]
    if found := re.search(r"Target (\d+) is out of bounds", message):  # of more classes
        for path, tensor in made:
            if tensor.is_floating_point() and tensor.dim() > 1:
                more = max(int(found[1]) + 1, 2 * int(tensor.shape[1]))
                yield path, [int(tensor.shape[0]), more, *map(int, tensor.shape[2:])]
    if "same number of dimensions" in message:
        yield from of_fewer(failure.args)


def of_mismatches(failure: Failure, message: str) -> Iterator[tuple[str, Wished]]:
    """Yield corrections for two sizes that were to be the same."""
    if found := re.search(r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\)", message):
        yield from of_rows(failure.args)
        yield from of_numbers(failure.args, int(found[1]), int(found[2]))
        yield from of_more(failure.args)
        yield from of_scalars(failure.args)
        yield from of_last(failure.args, int(found[1]), int(found[2]))
    if found := re.search(r"broadcast together with shapes \(([\d,]+)\) \(([\d,]+)\)", message):
        yield from of_arrays(*([int(n) for n in one.split(",") if n] for one in found.groups()))
    if found := re.search(r"expected index \[(\d+).*no larger than self \[(\d+)", message):
        yield from of_numbers(failure.args, int(found[1]), int(found[2]))
    if found := re.search(_EXPANDED, message):  # what is written to has too few, or too many
        yield from of_numbers(failure.args, int(found[1]), int(found[2]))
