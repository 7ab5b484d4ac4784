# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(1)
net = nn.Linear(6, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(2):
    total, squares = 0.0, torch.zeros(())
    for _ in range(10):
        x = torch.randn(12, 6)
        loss = (net(x) - x.mean(1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        squares += loss.detach() ** 2
    print(epoch, total / 10, squares.item())
