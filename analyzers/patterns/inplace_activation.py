"""A value that an operation saved for its backward is overwritten in place.

What happens: some operations save a tensor for their gradient: `sigmoid`, `tanh`, `relu`, `exp` and
`softmax` save their result, `*`, `@`, `pow` and convolutions their inputs. `+=`, `relu_()`,
`inplace=True`, `x[mask] = 0` or `out=` then overwrites that tensor and raises its version counter.
When the backward needs the old value, PyTorch raises an error.

Why: views and `.detach()` share memory and version counter with the original. A detach before the
write therefore changes nothing; only a new tensor helps.

The fix: write out of place, `x = x + y` for `x += y`, `x.relu()` for `x.relu_()`. For an indexed
write, copy the tensor first, or use `torch.where`.

When this fix is wrong: when other code reads the same memory and relies on the change (a buffer
that is shared on purpose). Then give the operation that saves the value a `.clone()`.

Broken::

    import torch

    layer = torch.nn.Linear(4, 4)
    x = torch.randn(8, 4)
    hidden = torch.sigmoid(layer(x))
    hidden += x
    hidden.sum().backward()

Fixed::

    import torch

    layer = torch.nn.Linear(4, 4)
    x = torch.randn(8, 4)
    hidden = torch.sigmoid(layer(x))
    hidden = hidden + x
    hidden.sum().backward()
"""

from __future__ import annotations

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence
from analyzers.explain.inplace_changes import stale_of
from analyzers.explain.pattern import Match
from analyzers.source.project import Project

ID = "GM015"
NAME = "inplace-activation"
FAMILY = "inplace"
TITLE = "A value that backward needs is overwritten in place"
CONCLUSION = "Write the new value into a new tensor instead."


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a changed saved tensor that is neither a stepped weight nor a state over time."""
    stale = stale_of(evidence, project)
    if stale is None or stale.nature != "activation":
        return None
    return stale.matched(NAME, Certainty.CERTAIN if stale.changes else Certainty.POSSIBLE)
