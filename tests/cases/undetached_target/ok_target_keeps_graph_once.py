# A target with a graph is no fault by itself: here both sides are meant to move (VICReg style).
import torch
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 4))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(4):
    x = torch.randn(16, 6)
    a, b = net(x + 0.1 * torch.randn_like(x)), net(x + 0.1 * torch.randn_like(x))
    spread = sum(torch.relu(1 - z.var(dim=0).add(1e-4).sqrt()).mean() for z in (a, b))
    loss = nn.functional.mse_loss(a, b) + spread
    opt.zero_grad()
    loss.backward()
    opt.step()
