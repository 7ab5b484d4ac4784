import numpy as np
import torch
from torch import nn


def ranks(x):
    return x


def spearman_loss(pred, y):
    rp, ry = ranks(pred), ranks(y)
    rp, ry = rp - rp.mean(), ry - ry.mean()
    return 1 - (rp * ry).sum() / (rp.norm() * ry.norm())


class Regressor(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, 32), nn.ELU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


rng = np.random.default_rng(0)
features = torch.from_numpy(rng.normal(size=(64, 5))).float()
affinity = features[:, 0] - 2 * features[:, 1]
model = Regressor(5)
opt = torch.optim.Adam(model.parameters(), 1e-3)
for epoch in range(3):
    for idx in torch.randperm(64).split(16):
        loss = spearman_loss(model(features[idx]), affinity[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
