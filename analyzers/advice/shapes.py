"""What the shapes in a message tell: of a tensor when it was saved, and when it was recomputed."""

from __future__ import annotations

import re
from typing import Literal

_SHAPES = re.compile(
    r"saved metadata:.{0,40}?Size\(\[([\d, ]{0,80})\]\).{0,400}?"
    r"recomputed metadata:.{0,40}?Size\(\[([\d, ]{0,80})\]",
    re.DOTALL,
)


def shapes_of(message: str) -> Literal["grown", "empty", "other", ""]:
    """Return how the shapes in a recomputation's message differ.

    `grown`: a dimension is larger by half or more in the recomputation; `empty`: one of the two
    tensors has no elements, as a sharded parameter; `other`: a dimension has another size; '':
    unknown.
    """
    for saved, again in _SHAPES.findall(message):
        before, after = _numbers(saved), _numbers(again)
        if before != after and ([0] in (before, after)):
            return "empty"
        if len(before) == len(after) and before != after:
            pairs = zip(after, before, strict=True)
            return "grown" if any(2 * a >= 3 * b for a, b in pairs) else "other"
    return ""


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part.strip().isdigit()]
