# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn


class FlatSGD:
    """One flat buffer for all gradients, made once; the list of views follows each backward."""

    def __init__(self, model, lr):
        self.params, self.lr = list(model.parameters()), lr
        self.grads = None

    def attach(self):
        self.grads = [p.grad for p in self.params]

    def clear(self):
        for g in self.grads or ():
            g.zero_()

    def norm(self):
        return torch.stack([g.norm() for g in self.grads]).norm()

    @torch.no_grad()
    def step(self):
        scale = (1.0 / (self.norm() + 1e-6)).clamp(max=1.0)
        for p, g in zip(self.params, self.grads):
            p -= self.lr * scale * g


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = FlatSGD(net, 0.1)
for p in net.parameters():
    p.grad = torch.zeros_like(p)
opt.attach()
for step in range(8):
    opt.clear()
    x = torch.randn(16, 4)
    loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
    loss.backward()
    opt.step()
    print(step, loss.item())
