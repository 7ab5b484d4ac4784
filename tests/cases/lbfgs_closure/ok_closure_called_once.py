# SGD calls its closure once, so a loss made outside it is walked once.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(4):
    loss = model(torch.randn(10, 4)).pow(2).mean()

    def closure():
        optimizer.zero_grad()
        loss.backward()
        return loss

    optimizer.step(closure)
