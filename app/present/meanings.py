"""What the messages mean, in plain words: by pattern where the message tells it, else by family."""

from __future__ import annotations

from analyzers.tracebacks import ParsedTraceback

_MEANINGS = {
    "graph-reuse": (
        "a backward needed a part of the graph that an earlier backward had already freed"
    ),
    "engine": "the engine's own backward refused to go through the same graph again",
    "inplace": (
        "a tensor that the backward still needed was changed in place after the forward had used it"
    ),
    "leaf": (
        "a leaf (a parameter, or a tensor with `requires_grad`) was written in place while "
        "gradients were recorded"
    ),
    "view": "a view of another tensor was written in place in a way that has no gradient",
    "no-grad": "backward() was called on a value with no graph behind it",
    "detached": (
        "the value has no graph: nothing with `requires_grad` led to it, or the graph was "
        "cut on the way"
    ),
    "non-scalar": (
        "`backward()` was called on a tensor of several values, and only a single number has a "
        "backward without being told weights"
    ),
    "unused": "a gradient was asked for something that the output was not made of",
    "numpy": "a tensor with a graph was handed to NumPy, which knows no gradients",
    "deepcopy": "a copy was asked for of a tensor that is the result of an operation",
    "nonleaf": (
        "something that only leaves have was asked of a tensor that is the result of an operation"
    ),
    "rebound": "a `.grad` was read that is None: no backward has reached that tensor",
}


def meaning(error: ParsedTraceback | None) -> str:
    """A sentence; empty for errors that are not about gradients."""
    if error is None:
        return ""
    told = _MEANINGS.get(error.kind or "") or _MEANINGS.get(error.family)
    return f"The message says that {told}." if told else ""
