# expect: pattern = none
# expect: raises = nothing
import numpy as np
import torch
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
x = torch.linspace(-3, 3, 40).unsqueeze(1)
frames = []
for epoch in range(6):
    y = net(x)
    loss = (y - x.sin()).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 2 == 0:
        frames.append(y.detach().numpy().copy())
    weights = {name: p.data.numpy().mean() for name, p in net.named_parameters()}
print(np.stack(frames).shape, weights)
