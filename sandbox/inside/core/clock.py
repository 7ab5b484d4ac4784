"""Counts what a run has done, and torch's nodes."""

from __future__ import annotations

from typing import Any

import torch


class Clock:
    """Counts what the run has done so far, for everyone."""

    calls = 0
    steps = 0
    sites = 0  # places where nodes were made
    closure = 0  # calls of its closure, in the step that runs
    first_node = 0  # the number that torch gives to the first node of the script
    evaluated_since: int | None = None  # in a closure's second evaluation: the next node's number
    # as its first began


def number_of(node: Any) -> int:
    """Return the node's number: torch counts them, thread by thread, as they are made."""
    return int(node._sequence_nr()) - Clock.first_node


def next_number() -> int:
    """Return the number that this thread's next node will get; 0 if torch does not expose it."""
    number: Any = getattr(torch._C._autograd, "_get_sequence_nr", None)
    return int(number()) if number is not None else 0
