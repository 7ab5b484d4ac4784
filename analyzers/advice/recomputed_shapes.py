"""What the shapes in a message tell: of tensors when they were saved and when recomputed, or of a
gradient and its input."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

ShapeChange = Literal[
    "grown", "empty", "shifted", "other", "none-left", "permuted", "another-rank", ""
]

_METADATA = re.compile(
    r"(saved|recomputed) metadata:.{0,40}?Size\(\[([\d, ]{0,80})\]\)"
    r"(?:, 'dtype': (torch\.\w{1,20}))?"
)
_GRADIENT = re.compile(
    r"invalid gradient at index \d{1,4} - (?:got|expected shape) \[([\d, ]{0,80})\] but "
    r"(?:expected shape compatible with|got) \[([\d, ]{0,80})\]"
)
_CUT_OFF = re.compile(r"invalid gradient at index \d{1,4} - got \[[\d, ]{0,76}\b0\b")
GROWN = 1.5  # the least factor of a cache; tokens that were routed otherwise differ less


@dataclass(frozen=True, slots=True)
class _SavedTensor:
    """A tensor as the message describes it; `dtype` is empty where it does not."""

    shape: tuple[int, ...]
    dtype: str


def shapes_of(message: str) -> ShapeChange:
    """Return how the shapes that a message compares differ; '': unknown."""
    if (gradient := _GRADIENT.search(message)) is not None:
        return _of_gradient(*gradient.groups())
    return "none-left" if _CUT_OFF.search(message) else _recomputed(message)


def _of_gradient(one: str, two: str) -> ShapeChange:
    """Return how the shapes of a gradient and its input differ.

    `none-left`: there is a dimension without elements; `another-rank`: one has more dimensions;
    `permuted`: both have the same ones, in another order.
    """
    shapes = _numbers(one), _numbers(two)
    if 0 in (*shapes[0], *shapes[1]):
        return "none-left"
    if len(shapes[0]) != len(shapes[1]):
        return "another-rank"
    return "permuted" if sorted(shapes[0]) == sorted(shapes[1]) else ""


def _recomputed(message: str) -> ShapeChange:
    """Return how the tensors of the forward and those of the recomputation differ.

    `empty`: one of two has no elements, as a sharded parameter; `shifted`: two have another number
    of dimensions or another type, so they are of different operations; `grown`: every one is larger
    in the recomputation, by half or more; `other`: a dimension is of another size.
    """
    listed = _METADATA.findall(message)
    found = [(which, _SavedTensor(_numbers(shape), dtype)) for which, shape, dtype in listed]
    before = [saved for which, saved in found if which == "saved"]
    after = [saved for which, saved in found if which == "recomputed"]
    differing = [(one, two) for one, two in zip(before, after, strict=False) if one != two]
    if not differing:
        return ""
    if any((0,) in (one.shape, two.shape) for one, two in differing):
        return "empty"
    if any(len(one.shape) != len(two.shape) or one.dtype != two.dtype for one, two in differing):
        return "shifted"
    return "grown" if all(_has_grown(one, two) for one, two in differing) else "other"


def _has_grown(one: _SavedTensor, two: _SavedTensor) -> bool:
    """Return True if no dimension is smaller and one is larger by half or more."""
    pairs = list(zip(one.shape, two.shape, strict=True))
    return all(b >= a for a, b in pairs) and any(b >= GROWN * a for a, b in pairs)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part.strip().isdigit())
