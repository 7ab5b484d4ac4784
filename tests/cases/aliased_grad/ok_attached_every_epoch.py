# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn


class Clipper:
    """Holds on to the gradients of this epoch's layers, and bounds them after each backward."""

    def __init__(self, net, bound):
        self.net, self.bound = net, bound
        self.views, self.norms = [], []

    def attach(self):
        self.views = [p.grad for p in self.net.parameters()]

    def clip(self):
        norm = torch.stack([g.norm() for g in self.views]).norm()
        for g in self.views:
            g.mul_((self.bound / (norm + 1e-6)).clamp(max=1.0))
        self.norms.append(norm.item())


torch.manual_seed(6)
net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
clipper = Clipper(net, bound=0.5)
for epoch in range(4):
    for batch in range(6):
        x = torch.randn(12, 4)
        opt.zero_grad(set_to_none=False)
        (net(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
        if batch == 0:
            clipper.attach()
        clipper.clip()
        opt.step()
    print(epoch, max(clipper.norms[-6:]))
