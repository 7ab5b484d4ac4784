"""A state or a buffer over time is written in place while earlier steps still need it.

What happens: a loop over time writes `out[:, t] = h`, `alpha[t] = ...` or `self.mem.mul_(decay)`
into one tensor and reads earlier entries of it for the next step. Each write raises the version of
the whole tensor, whichever part it changes. Operations of earlier steps had saved views of the
tensor, and their backward finds another version than they saved.

Why: autograd counts versions per tensor, not per element. A buffer that is only written in the
loop, and read after it, is fine.

The fix: keep the steps in a list and join them with `torch.stack` at the end; if a state is updated
step by step, give it a new tensor in each step (`mem = mem * decay`). If the buffer has to stay,
clone what is read from it.

When this fix is wrong: when calls share the buffer's memory on purpose. Then clone what is read. Do
not detach the state to silence the error: the steps before it would stop learning.

Broken::

    import torch

    weight = torch.randn(3, 3, requires_grad=True)
    states = torch.zeros(5, 3)
    states[0] = torch.ones(3)
    for t in range(1, 5):
        states[t] = torch.tanh(states[t - 1] @ weight)
    states.sum().backward()

Fixed::

    import torch

    weight = torch.randn(3, 3, requires_grad=True)
    states = [torch.ones(3)]
    for t in range(1, 5):
        states.append(torch.tanh(states[t - 1] @ weight))
    states = torch.stack(states)
    states.sum().backward()
"""

from __future__ import annotations

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence
from analyzers.explain.inplace_changes import stale_of
from analyzers.explain.pattern import Match
from analyzers.source.project import Project

ID = "GM017"
NAME = "inplace-state"
FAMILY = "inplace"
TITLE = "A state is overwritten in place while earlier steps need it"
CONCLUSION = "Give each step a tensor of its own."


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a changed tensor that outlives the iteration, or the call, that changes it."""
    stale = stale_of(evidence, project)
    if stale is None or stale.nature != "state":
        return None
    return stale.matched(NAME, Certainty.CERTAIN)
