"""A function given to `torch.func` does what a transform forbids.

What happens: `torch.func.grad`, `vmap` and similar transforms call a function with tensors of their
own. Inside the function, a plain `torch.zeros` has no batch dimension and cannot receive batched
values, `backward()` is not allowed, saved-tensor hooks (checkpointing) are refused, and a custom
Function needs a separate `setup_context`.

The fix: make tensors from the inputs (`x.new_zeros(...)`, `torch.zeros_like(x)`) or collect values
and stack them; return the loss instead of calling backward; split a Function into `forward` and
`setup_context`.

When this fix is wrong: when only one derivative is needed. `torch.autograd.grad` outside of a
transform has none of these rules.

Broken::

    import torch

    def squares(row):
        out = torch.zeros(4)
        for i in range(4):
            out[i] = row[i] ** 2
        return out

    print(torch.func.vmap(squares)(torch.randn(3, 4)))

Fixed::

    import torch

    def squares(row):
        out = row.new_zeros(4)
        for i in range(4):
            out[i] = row[i] ** 2
        return out

    print(torch.func.vmap(squares)(torch.randn(3, 4)))
"""

from __future__ import annotations

from analyzers.repair.settings.functions import batched_by_rule, returned_loss, written_out_of_place

ID = "GM037"
NAME = "functional-transform"
FAMILY = "inplace"
TITLE = "A rule of `torch.func` is broken inside a transformed function"
KIND = "transform"
PREFERS = (written_out_of_place, batched_by_rule, returned_loss)
