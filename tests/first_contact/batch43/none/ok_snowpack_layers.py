# expect: pattern = none
"""
Melt of a layered snowpack as a differentiable bucket model. Parameters are calibrated on weekly runoff with
truncated windows: the pack is carried over from window to window.
"""
import numpy as np
import torch
from torch import nn


class SnowPack(nn.Module):
    def __init__(self, n_layers=3):
        super().__init__()
        self.raw_melt = nn.Parameter(torch.linspace(-1.0, 0.0, n_layers))
        self.raw_hold = nn.Parameter(torch.zeros(n_layers))
        self.n_layers = n_layers

    def start(self):
        self.swe = torch.full((self.n_layers,), 20.0)

    def forward(self, temp, snow):
        melt_rate = torch.sigmoid(self.raw_melt)
        hold = torch.sigmoid(self.raw_hold)
        runoff = torch.zeros(len(temp))
        swe = self.swe
        for t in range(len(temp)):
            melt = torch.minimum(melt_rate * temp[t].clamp(min=0), swe)
            through = melt * (1 - hold)
            swe = swe - through
            swe[0] += snow[t]
            runoff[t] = through.sum()
        self.swe = swe.detach()
        return runoff


rng = np.random.default_rng(9)
torch.manual_seed(9)
days = 84
temp = torch.tensor(4 * np.sin(np.arange(days) / 9.0) + rng.normal(0, 1, days), dtype=torch.float32)
snow = torch.tensor(rng.exponential(1.0, days) * (temp.numpy() < 1), dtype=torch.float32)

truth = SnowPack()
with torch.no_grad():
    truth.raw_melt.copy_(torch.tensor([0.3, -0.2, -0.8]))
    truth.start()
    observed = truth(temp, snow)

model = SnowPack()
opt = torch.optim.Adam(model.parameters(), lr=0.05)
window = 14
losses = []
for epoch in range(4):
    model.start()
    for s in range(0, days, window):
        runoff = model(temp[s:s + window], snow[s:s + window])
        loss = ((runoff - observed[s:s + window]) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.data)
    print(epoch, torch.stack(losses[-6:]).mean().item())
