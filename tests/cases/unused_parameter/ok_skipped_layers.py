# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn


class Layered(nn.Module):
    """Layers are dropped at random: some parameters get no gradient in a step."""

    def __init__(self, d=6, depth=4):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(d, d), nn.Tanh()) for _ in range(depth))
        self.head = nn.Linear(d, 1)

    def forward(self, x, keep):
        for layer, on in zip(self.layers, keep):
            if on:
                x = x + layer(x)
        return self.head(x)


def clip(parameters, limit):
    grads = [p.grad for p in parameters if p.grad is not None]
    total = torch.stack([g.norm() for g in grads]).norm()
    for g in grads:
        g.mul_((limit / (total + 1e-6)).clamp(max=1.0))
    return total.item()


torch.manual_seed(0)
net = Layered()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(6):
    x = torch.randn(10, 6)
    loss = (net(x, torch.rand(4) < 0.7) - x.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    print(step, loss.item(), clip(net.parameters(), 1.0))
    optimizer.step()
