# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn


class Diary:
    """What the last batch of an epoch said, written down at once."""

    def __init__(self, net):
        self.net, self.last, self.norms = net, [], []

    def close_epoch(self):
        self.last = [p.grad for p in self.net.parameters()]
        self.norms.append(self.norm())

    def norm(self):
        return sum(g.pow(2).sum() for g in self.last).sqrt().item()


torch.manual_seed(7)
net = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
diary = Diary(net)
for epoch in range(5):
    for _ in range(6):
        x = torch.randn(10, 3)
        opt.zero_grad(set_to_none=False)
        (net(x) - x.prod(1, keepdim=True)).pow(2).mean().backward()
        opt.step()
    diary.close_epoch()
print(diary.norms)
