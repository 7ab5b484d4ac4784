# expect: pattern = stored-graph
# expect: also = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = _rotation
"""Rotating layers whose matrix exponential is kept until the optimizer has stepped."""
import torch
from torch import nn


class Rotate(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.angles = nn.Parameter(0.1 * torch.randn(size, size))
        self._rotation = None

    @property
    def rotation(self):
        if self._rotation is None:
            skew = self.angles.triu(1) - self.angles.triu(1).t()
            self._rotation = torch.matrix_exp(skew)  # expect: place
        return self._rotation  # expect: place

    def forward(self, x):
        return x @ self.rotation  # expect: place


class Mixer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.body = nn.Sequential(Rotate(size), nn.Tanh(), Rotate(size))
        self.scale = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return self.body(x) * self.scale


def forget_rotations_after_step(net, optimizer):
    def forget(opt, args, kwargs):
        for layer in net.children():  # expect: place
            if isinstance(layer, Rotate):
                layer._rotation = None

    return optimizer.register_step_post_hook(forget)


torch.manual_seed(14)
target = torch.linalg.qr(torch.randn(6, 6)).Q
net = Mixer(6)
optimizer = torch.optim.SGD(net.parameters(), lr=0.3)
forget_rotations_after_step(net, optimizer)
for i in range(8):
    x = torch.randn(40, 6)
    error = (net(x) - torch.tanh(x @ target)).square().mean()
    optimizer.zero_grad()
    error.backward()  # expect: place
    optimizer.step()
    print(i, round(error.item(), 4))
