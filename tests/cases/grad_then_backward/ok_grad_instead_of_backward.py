import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
params = list(model.parameters())
opt = torch.optim.Adam(params, lr=0.1)
for _ in range(4):
    loss = (model(torch.randn(8, 3)) - 1).pow(2).mean()
    for p, g in zip(params, torch.autograd.grad(loss, params)):
        p.grad = g
    opt.step()
