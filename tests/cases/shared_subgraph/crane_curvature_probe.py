# expect: pattern = shared-subgraph
# expect: also = step-between-backwards
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = sway, guess
"""Sway of a harbour crane: every third lift the curvature is probed with random signs."""
import torch
from torch import nn

torch.manual_seed(21)
net = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
curvature = {name: torch.zeros_like(p) for name, p in net.named_parameters()}

for lift in range(9):
    load = torch.randn(16, 5)
    target = torch.stack([load[:, 0] * load[:, 1], load.sum(1).sin()], dim=1)
    sway = net(load)  # expect: place
    loss = (sway - target).square().mean()
    optimizer.zero_grad()
    loss.backward()  # expect: place
    for name, p in net.named_parameters():
        p.grad.div_(1.0 + curvature[name].sqrt())
    optimizer.step()

    if lift % 3 == 2:
        signs = torch.randint(0, 2, (16, 2)) * 2.0 - 1.0
        noise = 0.1 * torch.randn(16, 2)
        guess = sway + noise  # expect: place
        probe = (guess * signs).mean()  # expect: place
        optimizer.zero_grad()
        probe.backward()  # expect: place
        for name, p in net.named_parameters():
            curvature[name].mul_(0.9).add_(0.1 * p.grad.square())
    print(lift, round(loss.item(), 4))
