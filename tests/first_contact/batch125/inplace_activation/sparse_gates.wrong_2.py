"""Mixture of experts for tabular demand forecasting, with only the best experts kept."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)


class Expert(nn.Module):
    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.up = nn.Linear(n_in, n_hidden)
        self.down = nn.Linear(n_hidden, 1)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class Router(nn.Module):
    def __init__(self, n_in, n_experts, k):
        super().__init__()
        self.proj = nn.Linear(n_in, n_experts)
        self.k = k

    def forward(self, x):
        gates = F.softmax(self.proj(x), dim=-1).detach()
        kth = gates.topk(self.k, dim=-1).values[:, -1:]
        gates[gates < kth] = 0.0
        return gates


class DemandModel(nn.Module):
    def __init__(self, n_in, n_experts=6, k=2):
        super().__init__()
        self.router = Router(n_in, n_experts, k)
        self.experts = nn.ModuleList(Expert(n_in, 16) for _ in range(n_experts))

    def forward(self, x):
        weights = self.router(x)
        outputs = torch.cat([expert(x) for expert in self.experts], dim=-1)
        return (weights * outputs).sum(-1), weights


def make_data(n=512, n_in=8):
    x = torch.randn(n, n_in)
    season = (x[:, 0] > 0).float()
    y = season * x[:, 1:4].sum(1) + (1 - season) * (x[:, 4] * x[:, 5]) + 0.1 * torch.randn(n)
    return x, y


x, y = make_data()
model = DemandModel(x.size(1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(5):
    total = 0.0
    for index in torch.randperm(len(x)).split(64):
        prediction, weights = model(x[index])
        usage = weights.mean(0)
        balance = (usage * len(usage) - 1).pow(2).mean()
        loss = F.mse_loss(prediction, y[index]) + 0.01 * balance

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(index)
    print(f"epoch {epoch} loss {total / len(x):.4f}")
