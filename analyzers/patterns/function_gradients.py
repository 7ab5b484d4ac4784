"""A custom `autograd.Function` returns gradients that do not fit its inputs.

What happens: the backward of a Function must return one gradient for each argument of `forward`
(without `ctx`), in that order and in the argument's shape (torch sums broadcast gradients), and
None for each argument that needs none. An input that was changed in place must be marked dirty and
returned.

The fix: count the arguments, keep their order, return `None` for numbers and flags, transpose where
the product did. `torch.autograd.gradcheck`, in double precision, says which input's gradient is
wrong: a patch that only runs may return the gradients of another input.

When this fix is wrong: when torch can differentiate the forward by itself. Then the Function is not
needed.

Broken::

    import torch

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor

    x = torch.randn(3, requires_grad=True)
    Scale.apply(x, 2.0).sum().backward()

Fixed::

    import torch

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor, None

    x = torch.randn(3, requires_grad=True)
    Scale.apply(x, 2.0).sum().backward()
"""

from __future__ import annotations

from analyzers.repair.settings.functions import (
    in_order,
    one_for_each,
    times_what_is_given,
)

ID = "GM035"
NAME = "function-gradients"
FAMILY = "engine"
TITLE = "The backward of a custom Function does not match its inputs"
KIND = "function"
PREFERS = (times_what_is_given, one_for_each, in_order)
