"""The terms that a loss adds up, as far as its graph shows: those with a gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from .graph import Node, Root

LIMIT = 256
_ADDING = ("Add", "Sub", "Neg", "Squeeze", "Unsqueeze", "View")
_SCALING = ("Mul", "Div")  # by a constant
_COLLECTING = ("Sum", "Mean")
_COLLECTED = ("Stack", "Cat")


def terms_of(roots: Sequence[Root], old: Callable[[Node], bool] = lambda node: False) -> int:
    """Return how many numbers with a graph are added up, without those that are `old`.

    One that a constant scales is one.
    """
    count, pending = 0, [node for node, _ in roots]
    while pending and count < LIMIT:
        node = pending.pop()
        if not old(node):
            parts = parts_of(node)
            pending += parts
            count += not parts
    return count


def parts_of(node: Node) -> list[Node]:
    """Return what a number is the sum or a multiple of; empty if it is a term of its own."""
    below = [child for child, _ in node.next_functions if child is not None]
    name = node.name()
    if name.startswith(_COLLECTING) and len(below) == 1 and below[0].name().startswith(_COLLECTED):
        return [n for n, _ in below[0].next_functions if n is not None and _is_number(n)]
    if not _is_number(node):
        return []
    if name.startswith(_ADDING) or (name.startswith(_SCALING) and len(below) == 1):
        return [child for child in below if _is_number(child)]
    return []


def _is_number(node: Any) -> bool:
    shapes = [metadata.shape for metadata in getattr(node, "_input_metadata", ())]
    return len(shapes) == 1 and prod(shapes[0]) == 1
