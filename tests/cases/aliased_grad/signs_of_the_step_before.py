# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = last, slope, state
"""Melt rates of a glacier tongue by a resilient step rule of our own: steps grow while slopes keep their sign."""
import torch
from torch import nn


class Resilient(torch.optim.Optimizer):
    def __init__(self, params, first=0.01, up=1.2, down=0.5):
        super().__init__(params, dict(first=first, up=up, down=down))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                slope = p.grad
                state = self.state[p]
                if not state:
                    state["size"] = torch.full_like(p, group["first"])
                    state["last"] = torch.zeros_like(p)
                agree = state["last"] * slope
                grow = torch.where(agree < 0, group["down"], group["up"])
                state["size"] = (state["size"] * grow).clamp(1e-5, 0.05)
                p.sub_(slope.sign() * state["size"])
                state["last"] = slope  # expect: place


torch.manual_seed(12)
days = torch.rand(120, 4)
melt = 2 * days[:, :1] * days[:, 1:2] - days[:, 2:3] + 0.05 * torch.randn(120, 1)
net = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
rule = Resilient(net.parameters())
for turn in range(16):
    rule.zero_grad(set_to_none=False)
    loss = (net(days) - melt).square().mean()
    loss.backward()
    rule.step()
    print(turn, round(loss.item(), 4))
