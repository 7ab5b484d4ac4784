import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(4)
torch.manual_seed(4)


def batches(n):
    for _ in range(n):
        a = rng.normal(size=(16, 3)).astype(np.float32)
        yield torch.from_numpy(a), torch.from_numpy(a.sum(axis=1, keepdims=True))


net = nn.Sequential(nn.Linear(3, 8), nn.Sigmoid(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
history = []
for epoch in range(2):
    epoch_loss = 0.0
    for x, y in batches(6):
        loss = (net(x) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        epoch_loss += loss.item()
    history.append(epoch_loss / 6)
print(history)
