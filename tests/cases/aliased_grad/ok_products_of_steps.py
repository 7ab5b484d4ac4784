# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(5, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
previous, log = None, []
for step in range(5):
    loss = net(torch.randn(8, 5)).square().mean()
    opt.zero_grad()
    loss.backward()
    current = [p.grad for p in net.parameters()]
    if previous is not None:
        dot = sum((a * b).sum() for a, b in zip(previous, current))
        log.append(dot.item())
    opt.step()
    previous = current
print(log)
