"""Finds a gradient of a hand-written engine that is not the numerical one, once the script has
ended: each operation in the graph of the first backward call is called again with an input moved.
"""

from __future__ import annotations

import contextlib
import io
import time
from collections import Counter
from collections.abc import Mapping

from ..core.frames import Json
from .graph_comparison import GraphComparison
from .graph_slopes import GraphSlopes, entries_of, is_nonzero, same
from .operation_log import ComputedNode, OperationLog

SECONDS = 2.0  # for all of it
TRIED = 16  # operations by which the attribute of the values is found
Known = Mapping[int, ComputedNode]


def wrong_gradient(log: OperationLog) -> Json | None:
    """Return the record of a wrong gradient; None if there is none, or it cannot be known.

    What the script's functions print when they are called again is dropped.
    """
    unread = io.StringIO()
    try:
        with contextlib.redirect_stdout(unread), contextlib.redirect_stderr(unread):
            return _compared(log)
    except (Exception, SystemExit):  # the script's own functions may raise anything
        return None


def _compared(log: OperationLog) -> Json | None:
    known = {id(node.instance): node for node in log.nodes}
    root = known.get(id(log.root))
    gradient = _attribute_of_gradients(log, root)
    if not gradient or root is None or len(log.nodes) < 2:
        return None
    until = time.monotonic() + SECONDS
    names = (name for name in root.before if name != gradient)
    attributes = (GraphSlopes(log.nodes, name, until) for name in names)
    slopes = next((one for one in attributes if _computes(one, known, gradient)), None)
    if slopes is None or getattr(root.before[slopes.value], "size", 1) != 1:
        return None
    return GraphComparison(log, root, gradient, slopes).found()


def _attribute_of_gradients(log: OperationLog, root: ComputedNode | None) -> str:
    """Return the attribute that the call has written, else the only one that is zero in every node;
    "" if a node but the root held a gradient before."""
    written = Counter(
        name
        for node in log.nodes
        for name, value in node.after.items()
        if name not in node.before or not same(value, node.before[name])
    )
    if not written:
        zero = [
            name
            for name in log.nodes[0].before
            if not any(is_nonzero(node.before.get(name, 1.0)) for node in log.nodes)
        ]
        return zero[0] if len(zero) == 1 else ""
    name = written.most_common(1)[0][0]
    others = (node for node in log.nodes if node is not root)
    return "" if any(is_nonzero(node.before.get(name, 0.0)) for node in others) else name


def _computes(slopes: GraphSlopes, known: Known, gradient: str) -> bool:
    """Return True if operations give an attribute of their results again, and depend on it in
    their inputs."""
    if any(slopes.value not in node.before for node in slopes.nodes):
        return False
    for node in [node for node in slopes.nodes if node.parents][:TRIED]:
        with contextlib.suppress(Exception):
            base = {id(p): slopes.twin(known[id(p)]) for p in node.parents}
            if not same(slopes.numbers(node, base), node.before[slopes.value]):
                return False
            for parent in map(id, node.parents):
                one = known[parent]
                entry = entries_of(one, slopes.value, gradient)[0]
                moved = {**base, parent: slopes.twin(one, entry, slopes.step(one, entry))}
                if not same(slopes.numbers(node, moved), node.before[slopes.value]):
                    return True
    return False
