"""WGAN with a gradient penalty; penalties are looked up by name."""
from itertools import islice

import torch
from torch import nn

PENALTIES = {}


def penalty(name):
    return lambda fn: PENALTIES.setdefault(name, fn)


@penalty("interpolated")
def interpolated(critic, real, fake):
    t = torch.rand(len(real), 1)
    mix = (t * real + (1 - t) * fake).requires_grad_()
    (g,) = torch.autograd.grad(critic(mix).sum(), mix, create_graph=True)
    return (g.norm(dim=1) - 1).pow(2).mean()


@penalty("r1")
def r1(critic, real, fake):
    real = real.detach().requires_grad_()
    (g,) = torch.autograd.grad(critic(real).sum(), real, create_graph=True)
    return 0.5 * g.pow(2).sum(1).mean()


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.Softplus()]
    return nn.Sequential(*layers[:-1])


def reals(n):
    while True:
        s = torch.randint(0, 2, (n, 1)) * 2.0 - 1
        yield torch.cat([s, -s], 1) + 0.1 * torch.randn(n, 2)


class WGAN:
    def __init__(self, penalty_name, weight=5.0, critic_steps=3, z=3):
        self.g, self.c, self.z = mlp(z, 24, 2), mlp(2, 24, 1), z
        self.penalty, self.weight, self.critic_steps = PENALTIES[penalty_name], weight, critic_steps
        self.opt_g = torch.optim.Adam(self.g.parameters(), 1e-3, betas=(0.0, 0.9))
        self.opt_c = torch.optim.Adam(self.c.parameters(), 1e-3, betas=(0.0, 0.9))

    def critic_losses(self, source):
        for real in islice(source, self.critic_steps):
            fake = self.g(torch.randn(len(real), self.z)).detach()
            yield self.c(fake).mean() - self.c(real).mean() + self.weight * self.penalty(self.c, real, fake)

    def round(self, source):
        for loss in self.critic_losses(source):
            self.opt_c.zero_grad()
            loss.backward()
            self.opt_c.step()
        fooled = -self.c(self.g(torch.randn(32, self.z))).mean()
        self.opt_g.zero_grad()
        fooled.backward()
        self.opt_g.step()
        return loss.item(), fooled.item()


torch.manual_seed(1)
for name in PENALTIES:
    gan, source = WGAN(name), reals(32)
    for _ in range(4):
        c, g = gan.round(source)
    print(name, round(c, 4), round(g, 4))
