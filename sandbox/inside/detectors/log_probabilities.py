"""Recognize log-probabilities, and ratios of two, by the nodes of their graphs."""

from __future__ import annotations

from typing import Any

from ..core.graph import Node, is_freed, op_name
from ..core.stamps import Stamps

DEEP = 8  # nodes on the way to a log-probability
EQUAL = 1e-4  # by which a ratio of the same log-probability with itself may differ from one
RATIO_OF = "ExpBackward0"  # of a difference of log-probabilities
_LOG_PROB, _PICKED = ".log_prob", ("GatherBackward0", "LogSoftmaxBackward0")
_ALONG = frozenset(  # through which a log-probability, or the ratio of two, stays one
    {"NegBackward0", "ExpBackward0", "SubBackward0", "SumBackward0", "SumBackward1"}
    | {"MeanBackward0", "MeanBackward1", "SqueezeBackward0", "SqueezeBackward1"}
    | {"UnsqueezeBackward0", "ViewBackward0", "ReshapeAliasBackward0", "IndexBackward0"}
    | {"SelectBackward0", "StackBackward0", "CatBackward0", "ClampBackward0", "ClampBackward1"}
)
_MEANS = frozenset({"SumBackward1", "MeanBackward1", "ClampBackward1"})  # over a sequence


def is_log_probability(node: Node, stamps: Stamps) -> bool:
    """Return True for a log-probability of a distribution, or an entry of a log-softmax."""
    for _ in range(DEEP):
        stamp, name = stamps.of(node), op_name(node)
        below = [one for one, _ in node.next_functions if one is not None]
        if stamp is not None and (stamp.library or "").endswith(_LOG_PROB):
            return True
        if not below or name not in _ALONG:
            return bool(below) and (name, op_name(below[0])) == _PICKED
        node = below[0]
    return False


def is_one(node: Node) -> bool:
    """Return True if all that an exponential has computed is one. What hooks have packed is left
    alone: to unpack it may compute it again, and may be allowed once.
    """
    exponential: Any = node
    saved = exponential._raw_saved_result
    if getattr(saved, "unpack_hook", True) is not None or is_freed(node):
        return False
    ratio = exponential._saved_result.detach()
    return bool(((ratio - 1).abs() < EQUAL).all())


def sides_of_ratio(node: Node, stamps: Stamps) -> tuple[Node, Node] | None:
    """Return the two log-probabilities of which a node computes the ratio, if both have a graph."""
    below = node.next_functions[0][0]
    while below is not None and op_name(below) in _MEANS:
        below = below.next_functions[0][0]
    if below is None or op_name(below) != "SubBackward0":
        return None
    one, other = (side for side, _ in below.next_functions)
    both = one is not None and other is not None
    both = both and is_log_probability(one, stamps) and is_log_probability(other, stamps)
    return (one, other) if both else None
