# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation
# expect: carrier = weight, net, first.weight
"""Dose-response that must rise with the dose: the dose column of the first layer is kept non-negative."""
import torch
import torch.nn as nn


class Response(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 12)
        self.out = nn.Linear(12, 1)

    def forward(self, x):
        return self.out(torch.sigmoid(self.first(x))).squeeze(1)


def project(net):
    net.first.weight[:, 0].clamp_(min=0)  # expect: place
    net.out.weight[:] = net.out.weight.abs()  # expect: place


def patients(n):
    x = torch.randn(n, 4)
    x[:, 0] = torch.rand(n) * 3
    return x, torch.tanh(x[:, 0] + 0.2 * x[:, 1]) + 0.05 * torch.randn(n)


torch.manual_seed(38)
net = Response()
opt = torch.optim.Adam(net.parameters(), lr=0.02)
for epoch in range(10):
    x, y = patients(32)
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    project(net)  # expect: place
    print(epoch, round(loss.item(), 4))
