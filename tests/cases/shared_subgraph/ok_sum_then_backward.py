import torch
from torch import nn

torch.manual_seed(0)
trunk, a, b = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 3)
opt = torch.optim.Adam([*trunk.parameters(), *a.parameters(), *b.parameters()])
for _ in range(3):
    x = torch.randn(6, 4)
    h = torch.relu(trunk(x))
    total = a(h).pow(2).mean() + nn.functional.cross_entropy(b(h), torch.randint(0, 3, (6,)))
    opt.zero_grad()
    total.backward()
    opt.step()
