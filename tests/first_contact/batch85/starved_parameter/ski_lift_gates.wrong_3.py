"""Queues at the lifts of a ski resort: graph convolutions whose edges open and close by gates."""
import copy

import torch
import torch.nn.functional as F
from torch import nn


def resort(lifts, pistes):
    """Every lift reaches a few others by pistes; each also reaches itself."""
    start = torch.randint(0, lifts, (pistes,))
    end = (start + torch.randint(1, lifts, (pistes,))) % lifts
    loops = torch.arange(lifts)
    index = torch.stack([torch.cat([end, loops]), torch.cat([start, loops])])
    return torch.unique(index, dim=1)


class GatedConv(nn.Module):
    def __init__(self, fan_in, fan_out):
        super().__init__()
        self.own = nn.Linear(fan_in, fan_out)
        self.near = nn.Linear(fan_in, fan_out, bias=False)

    def forward(self, adjacency, x):
        return self.own(x) + torch.sparse.mm(adjacency, self.near(x))


class LiftNet(nn.Module):
    def __init__(self, index, lifts, features, width=12):
        super().__init__()
        self.lifts = lifts
        self.register_buffer("index", index)
        self.gate = nn.Parameter(torch.zeros(index.shape[1]))
        self.first = GatedConv(features, width)
        self.second = GatedConv(width, 1)
        self.adjacency = None

    @torch.no_grad()
    def normalise(self):
        """D^-1 A with the gates as the entries of A; changes only when the gates do."""
        weight = torch.sigmoid(self.gate)
        degree = torch.zeros(self.lifts).index_add_(0, self.index[0], weight)
        values = weight / degree[self.index[0]]
        self.adjacency = torch.sparse_coo_tensor(self.index, values, (self.lifts, self.lifts))

    def forward(self, x):
        self.normalise()
        x = F.elu(self.first(self.adjacency, x))
        return self.second(self.adjacency, x).squeeze(-1)


def mornings(index, lifts, count):
    """The queue at a lift is what comes down on half of the pistes."""
    open_piste = (torch.rand(index.shape[1]) < 0.5).float()
    flow = torch.sparse_coo_tensor(index, open_piste, (lifts, lifts)).to_dense()
    features = torch.randn(count, lifts, 3)
    return features, torch.einsum("ij,tj->ti", flow, features[..., 0].relu()) + 0.3 * features[..., 1]


def fit(epochs=40):
    torch.manual_seed(61)
    lifts = 14
    index = resort(lifts, pistes=40)
    x, queue = mornings(index, lifts, count=12)
    net = LiftNet(index, lifts, features=3)
    optimizer = torch.optim.Adam([
        {"params": [net.gate], "lr": 0.1},
        {"params": [*net.first.parameters(), *net.second.parameters()], "lr": 0.02},
    ])
    best = (float("inf"), None)
    for epoch in range(epochs):
        loss = torch.stack([F.mse_loss(net(x[t]), queue[t]) for t in range(8)]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            held_out = torch.stack([F.mse_loss(net(x[t]), queue[t]) for t in range(8, 12)]).mean().item()
        if held_out < best[0]:
            best = (held_out, copy.deepcopy(net.state_dict()))
        if epoch % 10 == 0:
            shut = (torch.sigmoid(net.gate) < 0.3).sum().item()
            print(f"epoch {epoch}: {loss.item():.3f} held out {held_out:.3f}, {shut} pistes shut")
    net.load_state_dict(best[1])
    return net


fit()
