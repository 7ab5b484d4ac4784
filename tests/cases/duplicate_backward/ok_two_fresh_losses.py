import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(10, 4), torch.randn(10, 1)


def mse():
    return (model(x) - y).pow(2).mean()


for _ in range(3):
    opt.zero_grad()
    loss = mse()
    loss.backward()
    loss = mse()
    loss.backward()
    opt.step()
