"""A parameter, or another leaf that requires grad, is written in place while autograd records.

What happens: `w -= lr * w.grad`, `weight.clamp_(0)`, `nn.init`-like writes in a constructor, or
`embedding.weight[0] = 0` change a leaf (or a view of one) in recording mode.

Why: a leaf is where gradients arrive. If the write were recorded, the tensor would be the result
of an operation and no leaf any more; if it were not, the gradient would be wrong. PyTorch raises
instead of guessing.

The fix: an update of a parameter is no part of the model's mathematics: do it under
`torch.no_grad()`. Where the new value is a part of it (noise on an input, a mask on a weight),
compute a new tensor and leave the leaf as it is.

When this fix is wrong: when the gradient should flow through the write. Then `no_grad` loses
it, and the out-of-place form is right. Writing through `.data` hides the change from autograd's
checks: it runs, also where it should not.

Broken::

    import torch

    w = torch.ones(3, requires_grad=True)
    loss = (w * torch.arange(3.0)).sum()
    loss.backward()
    w -= 0.1 * w.grad

Fixed::

    import torch

    w = torch.ones(3, requires_grad=True)
    loss = (w * torch.arange(3.0)).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
"""

from __future__ import annotations

from analyzers.evidence import Evidence
from analyzers.explain.inplace_changes import refused
from analyzers.explain.pattern import Match
from analyzers.explain.sentences import changed
from analyzers.source.project import Project

ID = "GM016"
NAME = "inplace-leaf"
FAMILY = "inplace"
TITLE = "A leaf that requires grad is written in place"
KIND = "leaf"


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match PyTorch's refusal of a write into a leaf, or into a view of one."""
    return refused(NAME, evidence, project, KIND)


def explain(match: Match, project: Project) -> str:
    """Explain which leaf it is, and where."""
    return (
        changed(match, project) + " It is a leaf that requires grad: autograd cannot record a "
        "write into it."
    )
