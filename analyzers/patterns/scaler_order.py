"""The gradient scaler is called twice, too late, or on parameters in half precision.

What happens: for each optimizer and step, a `GradScaler` allows one `unscale_`, then `step`, then
`update`. Clipping inside gradient accumulation, a helper that unscales by itself, or a missing
`update()` breaks this order. The scaler also unscales only gradients in fp32; a model converted
with `.half()` has gradients in fp16.

The fix: call `scaler.scale(loss).backward()`, and only when a step is taken `unscale_`, clip,
`step`, `update`. Keep trainable parameters in fp32, and run the forward under `torch.autocast`.

When this fix is wrong: with bf16, which needs no scaler.

Broken::

    import torch

    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    loss = net(torch.randn(8, 4)).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()

Fixed::

    import torch

    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    loss = net(torch.randn(8, 4)).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
"""

from __future__ import annotations

from analyzers.repair.settings.scaling import (
    in_single_precision,
    scaled_once,
    unscaled_with_the_step,
)

ID = "GM034"
NAME = "scaler-order"
FAMILY = "inplace"
TITLE = "The gradient scaler is called out of order"
KIND = "scaler-order"
PREFERS = (in_single_precision, scaled_once, unscaled_with_the_step)
