import math

import torch


class GradScalerWithNormCount:
    """Backward, clip, step. On a machine without half precision the scale is simply one."""

    state_dict_key = "amp_scaler"

    def __init__(self, enabled=False):
        self._scaler = torch.amp.GradScaler("cpu", enabled=enabled)

    def __call__(self, loss, optimizer, clip_grad=None, parameters=None, create_graph=False, update_grad=True):
        self._scaler.scale(loss).backward(create_graph=create_graph)
        if not update_grad:
            return None
        self._scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(parameters, clip_grad if clip_grad is not None else math.inf)
        self._scaler.step(optimizer)
        self._scaler.update()
        return norm

    def state_dict(self):
        return self._scaler.state_dict()


class SmoothedValue:
    def __init__(self, window=5):
        self.window, self.values = window, []

    def update(self, value):
        self.values = (self.values + [value])[-self.window:]

    @property
    def avg(self):
        return sum(self.values) / max(len(self.values), 1)


def adjust_learning_rate(optimizer, epoch, base, warmup, epochs):
    if epoch < warmup:
        lr = base * (epoch + 1) / warmup
    else:
        lr = base * 0.5 * (1 + math.cos(math.pi * (epoch - warmup) / (epochs - warmup)))
    for group in optimizer.param_groups:
        group["lr"] = lr
    return lr
