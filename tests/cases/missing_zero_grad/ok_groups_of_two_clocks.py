# expect: pattern = none
# expect: raises = nothing
"""Ice thickness from radar echoes: the deep layers gather four passes before each of their steps."""
import torch
from torch import nn


class TwoClocks(torch.optim.Optimizer):
    """Group by group: `every` says after how many passes it steps, and is cleared."""

    def __init__(self, groups, lr):
        super().__init__(groups, {"lr": lr, "every": 1})
        self.passed = 0

    def _due(self):
        return [group for group in self.param_groups if self.passed % group["every"] == 0]

    def zero_grad(self, set_to_none=True):
        for group in self._due():
            for p in group["params"]:
                p.grad = None

    @torch.no_grad()
    def step(self, closure=None):
        self.passed += 1
        for group in self._due():
            for p in group["params"]:
                p.sub_(p.grad / group["every"], alpha=group["lr"])


torch.manual_seed(2)
deep, top = nn.Sequential(nn.Linear(6, 10), nn.Tanh()), nn.Linear(10, 1)
optimizer = TwoClocks([{"params": list(deep.parameters()), "every": 4}, {"params": list(top.parameters())}], lr=0.05)
for flight in range(24):
    echo = torch.randn(16, 6)
    optimizer.zero_grad()
    loss = (top(deep(echo)) - echo[:, :1].abs()).square().mean()
    loss.backward()
    optimizer.step()
    if flight % 8 == 7:
        print(flight, round(loss.item(), 4))
