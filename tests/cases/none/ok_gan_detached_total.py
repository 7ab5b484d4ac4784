import torch
from torch import nn

torch.manual_seed(0)
g, d = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 1))
og, od = torch.optim.SGD(g.parameters(), lr=0.1), torch.optim.SGD(d.parameters(), lr=0.1)
total = 0.0
for i in range(6):
    fake = g(torch.randn(8, 2))
    ld = d(fake.detach()).mean() - d(torch.randn(8, 3)).mean()
    od.zero_grad()
    ld.backward()
    od.step()
    lg = -d(fake).mean()
    og.zero_grad()
    lg.backward()
    og.step()
    total += lg.detach()
