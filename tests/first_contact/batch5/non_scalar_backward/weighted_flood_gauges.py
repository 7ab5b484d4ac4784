# expect: pattern = non-scalar-backward
# expect: raises = RuntimeError: grad can be implicitly created only for scalar outputs
# expect: carrier = loss, errors
import os, sys, time
import torch
import torch.nn as nn
import torch.nn.functional as F

# river gauges, the rare floods count more
torch.manual_seed(70)
rain = torch.rand(120, 5)
level = rain.sum(1) + 3 * (rain.sum(1) > 3.3).float()
weight = 1 + 4 * (level > 4).float()

model = nn.Sequential(nn.Linear(5, 16), nn.Softplus(), nn.Linear(16, 1))
optim = torch.optim.RMSprop(model.parameters(), lr=1e-3)

for epoch in range(4):
    for part in torch.arange(120).split(30):
        pred = model(rain[part]).squeeze(-1)
        errors = F.mse_loss(pred, level[part], reduction="none")
        loss = weight[part] * errors  # expect: place
        optim.zero_grad()
        loss.backward()  # expect: place
        optim.step()
    # scheduler.step()
    print("epoch", epoch, "loss", round(loss.mean().item(), 3))
