"""Training uses tensors that were made under inference mode.

What happens: tensors made under `torch.inference_mode()` have no version counter. Autograd can
never save them for a backward, and refuses in-place writes to them outside of inference mode. If
features, rollouts or weights made there are used in training, the first operation that has to save
them raises.

The fix: use `torch.no_grad()` instead of inference mode if training uses the result, or `.clone()`
the result outside of inference mode.

When this fix is wrong: `torch.enable_grad()` inside inference mode is no alternative: the tensors
are still inference tensors.

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

from analyzers.repair.settings.modes import without_inference_mode

ID = "GM036"
NAME = "inference-tensor"
FAMILY = "no-grad"
TITLE = "Training uses a tensor made in inference mode"
KIND = "inference"
PREFERS = (without_inference_mode,)
