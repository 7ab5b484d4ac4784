# expect: pattern = none
"""Hail or no hail from radar columns. Sharpness-aware step with a closure: two forwards, two backwards a batch."""
import torch
from torch import nn


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **kw):
        super().__init__(params, dict(rho=rho))
        self.base = base(self.param_groups, **kw)

    def _each(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    yield group, p

    @torch.no_grad()
    def step(self, closure):
        norm = torch.stack([p.grad.norm() for _, p in self._each()]).norm()
        for group, p in self._each():
            e = p.grad * (group["rho"] / (norm + 1e-12))
            p.add_(e)
            self.state[p]["e"] = e
        self.zero_grad()
        with torch.enable_grad():
            closure()
        for _, p in self._each():
            p.sub_(self.state[p]["e"])
        self.base.step()


def columns(n):
    hail = torch.randint(0, 2, (n,)).float()
    z = torch.linspace(0, 12, 20)
    top = 6 + 4 * hail + torch.randn(n)
    dbz = 50 * torch.sigmoid(top[:, None] - z) + 8 * hail[:, None] * torch.exp(-((z - 7) ** 2))
    return (dbz + 2 * torch.randn(n, 20)) / 25 - 1, hail


torch.manual_seed(6)
model = nn.Sequential(nn.Linear(20, 24), nn.ReLU(inplace=True), nn.Linear(24, 1))
optimizer = SAM(model.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
criterion = nn.BCEWithLogitsLoss()

for step in range(24):
    x, y = columns(32)

    def closure():
        loss = criterion(model(x).squeeze(1), y)
        loss.backward()
        return loss

    loss = closure()
    optimizer.step(closure)
    optimizer.zero_grad()
    if step % 6 == 0:
        print(step, round(loss.item(), 4))
