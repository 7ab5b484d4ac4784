# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.
# expect: carrier = layer.weight
import math
import torch
from torch import nn


def init_siren(layer, omega=30.0, first=False):
    bound = 1 / layer.in_features if first else math.sqrt(6 / layer.in_features) / omega
    layer.weight.uniform_(-bound, bound)  # expect: place
    layer.bias.zero_()
    return layer


class Siren(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = init_siren(nn.Linear(1, 16), first=True)
        self.b = init_siren(nn.Linear(16, 1))

    def forward(self, x):
        return self.b(torch.sin(30 * self.a(x)))


torch.manual_seed(0)
net = Siren()
opt = torch.optim.Adam(net.parameters(), lr=1e-4)
for _ in range(3):
    x = torch.linspace(-1, 1, 20)[:, None]
    loss = (net(x) - x ** 2).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
