# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = g
# Drawing glass fibre: the diameter along the fibre from furnace temperature, feed and draw speed.
# Step size found on the way: it grows while successive slopes agree, and shrinks when they do not.
import math
from typing import List, NamedTuple, Optional

import torch
import torch.nn as nn

Tensors = List[torch.Tensor]


class Move(NamedTuple):
    """All that the next move has to know of this one."""
    slope: Tensors
    lr: float


def dot(a: Tensors, b: Tensors) -> float:
    return float(sum((x * y).sum() for x, y in zip(a, b)))


def agreement(now: Tensors, before: Tensors) -> float:
    return dot(now, before) / (math.sqrt(dot(now, now) * dot(before, before)) + 1e-12)


def stride(now: Tensors, last: Optional[Move], start: float, eagerness: float, most: float) -> float:
    if last is None:
        return start
    return min(most, last.lr * math.exp(eagerness * (agreement(now, last.slope) - 0.1)))


class AgreeingDescent(torch.optim.Optimizer):
    def __init__(self, params, lr=0.02, eagerness=0.25, most=0.4):
        super().__init__(params, dict(lr=lr))
        self.eagerness, self.most = eagerness, most
        self.last: Optional[Move] = None

    def slope(self) -> Tensors:
        return [p.grad for group in self.param_groups for p in group["params"]]  # expect: place

    @torch.no_grad()
    def step(self):
        g = self.slope()  # expect: place
        group = self.param_groups[0]
        lr = stride(g, self.last, group["lr"], self.eagerness, self.most)
        for p, slope in zip(group["params"], g):
            p.sub_(lr * slope)
        self.last = Move(slope=g, lr=lr)  # expect: place


def tower_runs(n=480):
    furnace, feed, draw = torch.randn(n), torch.rand(n) + 0.5, torch.rand(n) + 1.0
    diameter = torch.sqrt(feed / draw) * (1 + 0.1 * torch.tanh(furnace))
    return torch.stack([furnace, feed, draw], dim=1), diameter.unsqueeze(1)


torch.manual_seed(13)
x, y = tower_runs()
net = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 1))
opt = AgreeingDescent(net.parameters())

for sweep in range(8):
    for part in torch.randperm(len(x)).split(32):
        opt.zero_grad(set_to_none=False)     # the grads are one arena, allocated once
        misfit = nn.functional.mse_loss(net(x[part]), y[part])
        misfit.backward()
        opt.step()
    with torch.no_grad():
        whole = nn.functional.mse_loss(net(x), y)
    print(f"{sweep + 1:3d}  misfit {whole.item():.5f}  step size {opt.last.lr:.3f}")
