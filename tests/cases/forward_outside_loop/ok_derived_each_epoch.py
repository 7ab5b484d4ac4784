# Centres are made once an epoch and walked once an epoch; the inner loop only reads numbers.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
X = torch.randn(30, 4)
for epoch in range(3):
    Z = net(X)
    centres = Z[:3].detach()
    for _ in range(4):
        nearest = torch.cdist(Z.detach(), centres).argmin(1)
        centres = torch.stack([Z.detach()[nearest == k].mean(0) for k in range(3) if (nearest == k).any()])
        if len(centres) < 3:
            centres = Z[:3].detach()
    loss = (Z - centres[torch.cdist(Z.detach(), centres).argmin(1)]).pow(2).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
