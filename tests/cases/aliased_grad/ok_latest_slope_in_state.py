# expect: pattern = none
"""Melt rates of a glacier tongue; the step rule keeps the latest slope in its state, for its own clipping."""
import torch
from torch import nn


class Clipped(torch.optim.Optimizer):
    def __init__(self, params, lr=0.05, most=1.0):
        super().__init__(params, dict(lr=lr, most=most))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["speed"] = torch.zeros_like(p)
                state["slope"] = p.grad
                excess = state["slope"] - p.grad.clamp(-group["most"], group["most"])
                state["speed"] = 0.9 * state["speed"] + state["slope"] - excess
                p.sub_(group["lr"] * state["speed"])


torch.manual_seed(12)
days = torch.rand(120, 4)
melt = 2 * days[:, :1] * days[:, 1:2] - days[:, 2:3] + 0.05 * torch.randn(120, 1)
net = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
rule = Clipped(net.parameters())
for turn in range(16):
    rule.zero_grad(set_to_none=False)
    loss = (net(days) - melt).square().mean()
    loss.backward()
    rule.step()
    print(turn, round(loss.item(), 4))
