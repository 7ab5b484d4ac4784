"""A parameter, or another leaf that requires grad, is written in place while autograd records.

What happens: `w -= lr * w.grad`, `weight.clamp_(0)`, an initialization in a constructor, or
`embedding.weight[0] = 0` changes a leaf (or a view of one) while autograd records.

Why: gradients accumulate at leaves. If autograd recorded the write, the tensor would be the result
of an operation and no longer a leaf; if it did not, the gradient would be wrong. PyTorch raises an
error instead of guessing.

The fix: update a parameter under `torch.no_grad()`, because the update is not part of the model's
mathematics. If the new value is part of it (noise on an input, a mask on a weight), compute a new
tensor and leave the leaf as it is.

When this fix is wrong: when the gradient should flow through the write. Then `no_grad` loses the
gradient, and the out-of-place form is right. A write through `.data` bypasses autograd's checks: it
never raises, even where it should.

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
from analyzers.source.project import Project

ID = "GM016"
NAME = "inplace-leaf"
FAMILY = "inplace"
TITLE = "A leaf that requires grad is written in place"
CONCLUSION = "It is a leaf that requires grad: autograd cannot record a write into it."
KIND = "leaf"


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match PyTorch's refusal of a write into a leaf, or into a view of one."""
    return refused(NAME, evidence, project, KIND)
