import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 1))
opt = torch.optim.Adam(model.parameters())
for epoch in range(3):
    epoch_loss = 0
    for x in torch.randn(4, 5, 3):
        epoch_loss = epoch_loss + (model(x) - x.mean(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    epoch_loss.backward()
    opt.step()
