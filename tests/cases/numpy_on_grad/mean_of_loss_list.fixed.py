import numpy as np
import torch
from torch import nn

torch.manual_seed(8)
model = nn.Linear(4, 3)
opt = torch.optim.Adam(model.parameters(), lr=0.02)
names = ("sum", "max", "norm")


def targets(x):
    return x.sum(1), x.max(1).values, x.norm(dim=1)


for epoch in range(3):
    epoch_log = []
    for _ in range(4):
        x = torch.randn(10, 4)
        out = model(x)
        task_losses = [(out[:, k] - t).abs().mean() for k, t in enumerate(targets(x))]
        opt.zero_grad()
        sum(task_losses).backward()
        opt.step()
        epoch_log.append(np.array([loss.item() for loss in task_losses]))
    print(epoch, dict(zip(names, np.mean(epoch_log, axis=0).round(3))))
