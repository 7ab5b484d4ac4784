# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = weights, ordinates, self.raw_k
"""Runoff of a small catchment: a net says how much rain is effective, two reservoirs let it out."""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

MEMORY = 12  # hours


class Reservoirs(nn.Module):
    """Unit hydrograph of two linear reservoirs; recession constants and their share are learnt."""

    def __init__(self):
        super().__init__()
        self.raw_k = nn.Parameter(torch.tensor([0.0, 1.0]))
        self.share = nn.Parameter(torch.tensor(0.0))

    def ordinates(self, k):
        weights = torch.tensor([k**lag for lag in range(MEMORY)])  # expect: place
        return weights / weights.sum()

    def forward(self, effective):
        fast, slow = (self.ordinates(k) for k in torch.sigmoid(self.raw_k))  # expect: place
        share = torch.sigmoid(self.share)
        kernel = share * fast + (1 - share) * slow
        padded = F.pad(effective.unsqueeze(1), (MEMORY - 1, 0))
        return F.conv1d(padded, kernel.flip(0).view(1, 1, -1)).squeeze(1)


class Catchment(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss_net = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 1))
        self.route = Reservoirs()

    def forward(self, forcing):
        fraction = torch.sigmoid(self.loss_net(forcing).squeeze(-1))
        return self.route(fraction * forcing[..., 0])


def make_storms(n, hours, rng):
    rain = rng.gamma(0.4, 2.0, (n, hours)).astype(np.float32)
    temp = rng.normal(0, 1, (n, hours)).astype(np.float32)
    response = 0.8 ** np.arange(MEMORY)
    response /= response.sum()
    wet = rain / (1 + np.exp(temp))
    flow = np.stack([np.convolve(row, response)[:hours] for row in wet]).astype(np.float32)
    return torch.from_numpy(np.stack([rain, temp], -1)), torch.from_numpy(flow)


torch.manual_seed(2)
forcing, flow = make_storms(64, 48, np.random.default_rng(2))
model = Catchment()
opt = torch.optim.Adam(model.parameters(), lr=2e-2)
for epoch in range(4):
    for rows in torch.randperm(64).split(16):
        loss = F.mse_loss(model(forcing[rows]), flow[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    k = torch.sigmoid(model.route.raw_k).tolist()
    print(f"{epoch} loss {loss.item():.4f}  k {k[0]:.3f} {k[1]:.3f}")
