"""An operator that the gradient passes through has no derivative of the kind that is asked for.

What happens: some operators give no gradient to some of their inputs, and fused kernels (attention,
cuDNN's recurrent layers) have only a first derivative. A gradient penalty, MAML or forces need the
second.

The fix: run that forward with a kernel that has a second derivative
(`torch.nn.attention.sdpa_kernel(SDPBackend.MATH)`), use another operator, or detach the input if it
is a constant.

When this fix is wrong: when no second derivative was intended. Then leave `create_graph=True` out.

Broken::

    import torch
    import torch.nn.functional as F

    q = torch.randn(1, 2, 4, 8, requires_grad=True)
    out = F.scaled_dot_product_attention(q, q, q)
    grad, = torch.autograd.grad(out.sum(), q, create_graph=True)
    grad.pow(2).sum().backward()

Fixed::

    import torch
    import torch.nn.functional as F

    q = torch.randn(1, 2, 4, 8, requires_grad=True)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        out = F.scaled_dot_product_attention(q, q, q)
    grad, = torch.autograd.grad(out.sum(), q, create_graph=True)
    grad.pow(2).sum().backward()
"""

from __future__ import annotations

from analyzers.repair.settings.modes import on_math_kernel

ID = "GM039"
NAME = "no-derivative"
FAMILY = "no-grad"
TITLE = "An operator has no derivative of this order"
KIND = "no-derivative"
PREFERS = (on_math_kernel,)
