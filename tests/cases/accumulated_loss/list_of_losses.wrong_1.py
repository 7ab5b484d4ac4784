# One optimizer step for every two mini-batches.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(23)
ACCUM = 2
net = nn.Sequential(nn.Conv1d(2, 6, 3), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(6, 3))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
epoch_losses = []

for i in range(6):
    x, y = torch.randn(4, 2, 10), torch.randint(0, 3, (4,))
    epoch_losses.append(F.cross_entropy(net(x), y))
    if (i + 1) % ACCUM == 0:
        opt.zero_grad()
        torch.stack(epoch_losses).mean().backward(retain_graph=True)
        opt.step()
