"""What was made under inference mode is used in training.

What happens: tensors made under `torch.inference_mode()` have no version counter, and autograd can
never keep them for a backward, nor write into them later. Features, rollouts or weights that
are made there and used in training raise at the first operation that has to keep them.

The fix: `torch.no_grad()` in place of inference mode where training uses the result; or a
`.clone()` of it, made outside.

When this fix is wrong: `torch.enable_grad()` inside inference mode changes nothing: the tensors are
of the same kind.

Broken::

    import torch

    backbone, head = torch.nn.Linear(4, 8), torch.nn.Linear(8, 1)
    with torch.inference_mode():
        features = backbone(torch.randn(16, 4))
    head(features).sum().backward()

Fixed::

    import torch

    backbone, head = torch.nn.Linear(4, 8), torch.nn.Linear(8, 1)
    with torch.no_grad():
        features = backbone(torch.randn(16, 4))
    head(features).sum().backward()
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.explain import known
from analyzers.explain.pattern import Match, Proposal
from analyzers.repair.settings.modes import without_inference_mode
from analyzers.source.project import Project

ID = "GM036"
NAME = "inference-tensor"
FAMILY = "no-grad"
TITLE = "Training uses a tensor made in inference mode"
KIND = "inference"

match = known.matching(NAME, KIND)
explain = known.explain


def fixes(match: Match, project: Project) -> Iterator[Proposal]:
    """Propose `no_grad` in place of inference mode."""
    yield from without_inference_mode(project)
