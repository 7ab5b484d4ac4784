# expect: pattern = none
# expect: raises = nothing
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(3)
torch.manual_seed(3)
model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.02)

data = torch.from_numpy(rng.normal(3.0, 2.0, size=(80, 5)).astype("float32"))
data -= data.mean(0)
data /= data.std(0)
target = data[:, :1] - data[:, 1:2]
for chunk, y in zip(data.split(20), target.split(20)):
    chunk = chunk.clone()
    chunk[torch.rand_like(chunk) < 0.1] = 0.0
    loss = nn.functional.mse_loss(model(chunk), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
