import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
running_loss = 0.0
for i in range(6):
    x = torch.randn(4, 3)
    loss = model(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    running_loss += loss.item()
    if i % 3 == 2:
        print(running_loss / 3)
        running_loss = 0.0
