# expect: pattern = none
"""Reptile over olive mills: the distance to the adapted copy is handed to Adam as if it were a gradient."""
from copy import deepcopy

import torch
from torch import nn


class AcidityNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 24), nn.ReLU(inplace=True), nn.Linear(24, 24), nn.ReLU(inplace=True),
                                    nn.Linear(24, 1))
        self.last_loss = None

    def clone(self):
        other = AcidityNet()
        other.load_state_dict(self.state_dict())
        return other

    def point_grad_to(self, target):
        """Sets .grad so that a step moves towards `target`."""
        for p, target_p in zip(self.parameters(), target.parameters()):
            if p.grad is None:
                p.grad = torch.zeros_like(p)
            p.grad.data.zero_()
            p.grad.data.add_(p.data - target_p.data)

    def forward(self, x):
        return self.layers(x).squeeze(1)


class Mill:
    def __init__(self, g):
        self.g = g
        self.w = torch.randn(4, generator=g) * torch.tensor([1.0, 0.5, 0.2, 0.2])
        self.b = torch.randn((), generator=g)

    def sample(self, n):
        x = torch.rand(n, 4, generator=self.g)
        return x, x @ self.w + self.b + 0.05 * torch.randn(n, generator=self.g)


def do_learning(net, optimizer, mill, iterations):
    for _ in range(iterations):
        x, y = mill.sample(10)
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.data


torch.manual_seed(61)
g = torch.Generator().manual_seed(61)
meta_net = AcidityNet()
meta_optimizer = torch.optim.Adam(meta_net.parameters(), lr=3e-3)
fast_state = None
history = []

for meta_iteration in range(15):
    net = meta_net.clone()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3, betas=(0.0, 0.999))
    if fast_state is not None:
        optimizer.load_state_dict(fast_state)
    meta_net.last_loss = do_learning(net, optimizer, Mill(g), iterations=5)
    fast_state = deepcopy(optimizer.state_dict())

    meta_net.point_grad_to(net)
    meta_optimizer.step()
    history.append(meta_net.last_loss)

print(torch.stack(history).view(3, 5).mean(1))
