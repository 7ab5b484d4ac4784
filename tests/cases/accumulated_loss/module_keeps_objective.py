# expect: pattern = accumulated-loss
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.objective, model.objective, objective, self.aux_loss, self.balance, model.balance, router.balance, self.router.balance
# A mixture of experts: the router adds its balance term to a running sum of its own.
import torch
import torch.nn.functional as F
from torch import nn


class Router(nn.Module):
    def __init__(self, dim, experts):
        super().__init__()
        self.gate = nn.Linear(dim, experts)
        self.balance = 0.0

    def forward(self, x):
        p = F.softmax(self.gate(x), dim=-1)
        load = p.mean(0)
        self.balance = self.balance + len(load) * (load * load).sum()  # expect: place
        return p


class MoE(nn.Module):
    def __init__(self, dim=6, experts=3):
        super().__init__()
        self.router = Router(dim, experts)
        self.experts = nn.ModuleList(nn.Linear(dim, dim) for _ in range(experts))

    def forward(self, x):
        p = self.router(x)
        return sum(p[:, i : i + 1] * torch.tanh(e(x)) for i, e in enumerate(self.experts))


torch.manual_seed(0)
model = MoE()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(5):
    x = torch.randn(12, 6)
    task = F.mse_loss(model(x), x.roll(1, dims=1))
    loss = task + 0.01 * model.router.balance  # expect: place
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
    print(step, task.item(), float(model.router.balance))
