"""Loads of river barges from their draught, on two rivers: one encoder, a reversed river critic.

Both losses walk the encoder's graph, the first with the graph kept, and only then do both
optimizers step.
"""
import torch
import torch.nn.functional as F
from torch import nn


class Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


class Barges(nn.Module):
    def __init__(self, gauges=5, width=12):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(gauges, width), nn.ReLU())
        self.load = nn.Linear(width, 1)
        self.river = nn.Linear(width, 2)

    def forward(self, x, strength):
        z = self.encoder(x)
        return self.load(z).squeeze(-1), self.river(Reversed.apply(z, strength))


def passages(count):
    river = torch.randint(0, 2, (count,))
    x = torch.randn(count, 5)
    y = x[:, 0] - 0.5 * x[:, 1]
    x[:, 2] += river
    return x, y, river


def train(steps=25):
    torch.manual_seed(8)
    net = Barges()
    main = torch.optim.Adam([*net.encoder.parameters(), *net.load.parameters()], lr=0.01)
    critic = torch.optim.SGD(net.river.parameters(), lr=0.05)
    seen = {"load": 0.0, "river": 0.0}
    for step in range(1, steps + 1):
        x, y, river = passages(32)
        load, guess = net(x, strength=min(1.0, step / 10))
        misfit = F.mse_loss(load, y)
        confusion = F.cross_entropy(guess, river)
        main.zero_grad()
        critic.zero_grad()
        misfit.backward(retain_graph=True)
        confusion.backward()
        main.step()
        critic.step()
        seen["load"] += misfit.item()
        seen["river"] += confusion.item()
        if step % 5 == 0:
            print(step, {name: round(total / step, 4) for name, total in seen.items()})


train()
