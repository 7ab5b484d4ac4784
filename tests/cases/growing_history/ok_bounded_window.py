# expect: pattern = none
# expect: raises = nothing
from collections import deque

import torch
from torch import nn

torch.manual_seed(3)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
recent = deque(maxlen=3)
features = []
for step in range(12):
    x = torch.randn(6, 4)
    code = net(x)
    loss = (code - x.flip(1)).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    recent.append(loss.item())
    features.append(code.detach().mean(0))
print(sum(recent) / len(recent), torch.stack(features).std().item())
