import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call


class Probe(nn.Module):
    def __init__(self, width=20):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.tail = nn.Linear(width, 1)

    def forward(self, x):
        return self.tail(self.body(x))


class MetaProbe(nn.Module):
    """The start, and for each tensor of it the rate at which a new species moves it."""

    def __init__(self, rate=0.1):
        super().__init__()
        self.net = Probe()
        self.rates = nn.ParameterList(nn.Parameter(torch.full_like(p, rate)) for p in self.net.parameters())

    def calibrate(self, support, steps, differentiable=True):
        x, y = support
        fast = dict(self.net.named_parameters())
        for _ in range(steps):
            loss = F.mse_loss(functional_call(self.net, fast, (x,)), y)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=differentiable)
            fast = {name: p - rate * g for (name, p), rate, g in zip(fast.items(), self.rates, grads)}
        return fast

    def error(self, fast, batch):
        x, y = batch
        return F.mse_loss(functional_call(self.net, fast, (x,)), y)
