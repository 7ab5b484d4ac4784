# trade between regions, one graph a quarter. The weight of the graph conv is itself
# evolved by a GRU from snapshot to snapshot (as in EvolveGCN-O)
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

np.random.seed(3)
torch.manual_seed(3)

N_REGIONS, N_FEAT, N_QUARTERS = 18, 6, 10


class EvolvingConv(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = None
        self.initial_weight = nn.Parameter(torch.empty(channels, channels))
        nn.init.xavier_uniform_(self.initial_weight)
        self.evolve = nn.GRUCell(channels, channels)

    def reset_parameters(self):
        self.weight = None

    def forward(self, a_hat, x):
        before = self.initial_weight if self.weight is None else self.weight
        self.weight = self.evolve(before, before)
        return a_hat @ x @ self.weight


class TradeModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = EvolvingConv(N_FEAT)
        self.linear = nn.Linear(N_FEAT, 1)

    def forward(self, a_hat, x):
        h = F.relu(self.conv(a_hat, x))
        return self.linear(h).squeeze(-1)


def normalise(adj):
    adj = adj + np.eye(len(adj))
    d = adj.sum(1) ** -0.5
    return adj * d[:, None] * d[None, :]


snapshots = []
level = np.random.randn(N_REGIONS, N_FEAT)
for q in range(N_QUARTERS):
    adj = (np.random.rand(N_REGIONS, N_REGIONS) < 0.2).astype(float)
    adj = np.maximum(adj, adj.T)
    level = 0.9 * level + 0.3 * np.random.randn(*level.shape)
    y = normalise(adj) @ level[:, 0] + 0.1 * q
    snapshots.append([torch.tensor(v, dtype=torch.float32) for v in (normalise(adj), level, y)])

model = TradeModel()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

model.train()
for epoch in range(15):
    cost = 0
    model.conv.reset_parameters()
    for time, (a_hat, x, y) in enumerate(snapshots):
        y_hat = model(a_hat, x)
        cost = cost + torch.mean((y_hat - y) ** 2)
    cost = cost / (time + 1)
    cost.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(epoch, round(cost.item(), 4))
