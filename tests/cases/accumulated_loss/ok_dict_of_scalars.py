from collections import defaultdict

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 6))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
totals = defaultdict(float)
for step, x in enumerate(torch.rand(6, 8, 6), 1):
    losses = {"recon": (model(x) - x).pow(2).mean(), "sparse": model[0](x).abs().mean() * 1e-2}
    total_loss = sum(losses.values())
    opt.zero_grad()
    total_loss.backward()
    opt.step()
    for name, value in losses.items():
        totals[name] += value.detach()
    print({name: round(float(value) / step, 4) for name, value in totals.items()})
