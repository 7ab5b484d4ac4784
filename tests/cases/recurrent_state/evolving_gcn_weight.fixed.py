# A graph convolution whose weight matrix evolves from snapshot to snapshot.
import torch
import torch.nn.functional as F
from torch import nn


class EvolvingConv(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.evolve = nn.GRUCell(width, width)
        self.initial = nn.Parameter(0.3 * torch.randn(width, width))
        self.weight = None

    def forward(self, x, adj):
        weight = self.initial if self.weight is None else self.weight
        self.weight = self.evolve(weight, weight)
        return adj @ x @ self.weight


class TemporalNet(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.conv = EvolvingConv(width)
        self.out = nn.Linear(width, 1)

    def forward(self, x, adj):
        return self.out(F.relu(self.conv(x, adj)))


def snapshots(n=4, nodes=9, width=6):
    for _ in range(n):
        adj = (torch.rand(nodes, nodes) < 0.3).float() + torch.eye(nodes)
        yield torch.randn(nodes, width), adj / adj.sum(1, keepdim=True), torch.randn(nodes, 1)


torch.manual_seed(0)
data = list(snapshots())
model = TemporalNet()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
model.train()
for epoch in range(4):
    cost = 0
    model.conv.weight = None
    for time, (x, adj, y) in enumerate(data):
        cost = cost + F.mse_loss(model(x, adj), y)
    cost = cost / (time + 1)
    cost.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(epoch, cost.item())
