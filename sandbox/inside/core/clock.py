"""Counts what a run has done, and torch's nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch


@dataclass(slots=True)
class Clock:
    """Counts what the run has done so far, for everyone: read at each node that is made, and slots
    of an object are read faster than attributes of a class."""

    calls: int = 0
    steps: int = 0
    sites: int = 0  # places where nodes were made
    closure: int = 0  # calls of its closure, in the step that runs
    first_node: int = 0  # the number that torch gives to the first node of the script
    evaluated_since: int | None = None  # in a closure's second evaluation: the next node's number
    # as its first began


CLOCK = Clock()


def number_of(node: Any) -> int:
    """Return the node's number: torch counts them, thread by thread, as they are made."""
    return int(node._sequence_nr()) - CLOCK.first_node


def next_number() -> int:
    """Return the number that this thread's next node will get; 0 if torch does not expose it."""
    number: Any = getattr(torch._C._autograd, "_get_sequence_nr", None)
    return int(number()) if number is not None else 0
