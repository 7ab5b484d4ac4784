"""Climate signal in tree rings: an encoder that keeps temperature and forgets the site.

A MINE-style critic estimates how much the code still tells about the site; it takes a few steps
of its own on every batch before the encoder moves.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ELU()]
    return nn.Sequential(*layers[:-1])


def make_rings(n, sites=4, rings=12):
    site = torch.randint(0, sites, (n,))
    warmth = torch.randn(n)
    response = torch.linspace(-1, 1, rings)
    offset = torch.linspace(-1.5, 1.5, sites)[site]
    width = warmth[:, None] * response + offset[:, None] * torch.cos(2 * response) + 0.3 * torch.randn(n, rings)
    return width, warmth, F.one_hot(site, sites).float()


def donsker_varadhan(critic, code, site):
    """Lower bound of the mutual information; shuffled sites make the product of the marginals."""
    joint = critic(torch.cat([code, site], 1)).squeeze(1)
    apart = critic(torch.cat([code, site[torch.randperm(len(site))]], 1)).squeeze(1)
    return joint.mean() - (torch.logsumexp(apart, 0) - math.log(len(apart)))


class Experiment:
    critic_steps = 3
    penalty = 0.6

    def __init__(self, rings, sites, code=3):
        self.encoder = mlp(rings, 24, code)
        self.decoder = mlp(code, 12, 1)
        self.critic = mlp(code + sites, 24, 1)
        self.opt_main = torch.optim.Adam([*self.encoder.parameters(), *self.decoder.parameters()], lr=5e-3)
        self.opt_critic = torch.optim.Adam(self.critic.parameters(), lr=5e-3)

    def step(self, width, warmth, site):
        code = self.encoder(width)
        predicted = self.decoder(code).squeeze(1)
        error = F.mse_loss(predicted, warmth)

        frozen = code.detach()
        for _ in range(self.critic_steps):
            bound = donsker_varadhan(self.critic, frozen, site)
            self.opt_critic.zero_grad()
            (-bound).backward()
            nn.utils.clip_grad_norm_(self.critic.parameters(), 5.0)
            self.opt_critic.step()

        for p in self.critic.parameters():
            p.requires_grad_(False)
        leak = donsker_varadhan(self.critic, code, site)
        self.opt_main.zero_grad()
        (error + self.penalty * leak.clamp(min=0)).backward()
        self.opt_main.step()
        for p in self.critic.parameters():
            p.requires_grad_(True)
        return error.item(), leak.item()

    @torch.no_grad()
    def test(self, width, warmth, site):
        code = self.encoder(width)
        r2 = 1 - F.mse_loss(self.decoder(code).squeeze(1), warmth) / warmth.var()
        return r2.item(), donsker_varadhan(self.critic, code, site).item()


def main():
    torch.manual_seed(86)
    train, test = make_rings(256), make_rings(128)
    experiment = Experiment(train[0].shape[1], train[2].shape[1])
    for epoch in range(12):
        errors, leaks = [], []
        for index in torch.randperm(len(train[0])).split(64):
            error, leak = experiment.step(*(column[index] for column in train))
            errors.append(error)
            leaks.append(leak)
        if epoch % 2:
            r2, left = experiment.test(*test)
            print(f"epoch {epoch}: error {sum(errors) / 4:.3f}, bound {sum(leaks) / 4:.3f}, "
                  f"test r2 {r2:.2f}, left about the site {left:.3f}")


if __name__ == "__main__":
    main()
