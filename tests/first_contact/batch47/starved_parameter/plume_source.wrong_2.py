"""Amortised inference: where does an odour plume start, given eight sensor readings?"""
import math

import torch
from torch import nn
from torch.distributions import Normal, kl_divergence

SENSORS = torch.tensor([[math.cos(a), math.sin(a)] for a in torch.arange(8) * math.pi / 4])


def readings(origin):
    gap2 = ((origin.unsqueeze(-2) - SENSORS) ** 2).sum(-1)
    return torch.exp(-gap2 / 0.8)


class Locator(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 32), nn.Tanh())
        self.centre = nn.Linear(32, 2)
        self.log_spread = nn.Linear(32, 2)
        self.log_noise = nn.Parameter(torch.tensor(-1.0))

    def posterior(self, nose):
        h = self.trunk(nose)
        return Normal(self.centre(h), self.log_spread(h).clamp(-4, 1).exp())

    def bound(self, nose, draws=4):
        q = self.posterior(nose)
        origin = q.mean.expand(draws, -1, -1)
        noise = Normal(readings(origin), self.log_noise.exp())
        explain = noise.log_prob(nose).sum(-1).mean(0)
        prior = Normal(torch.zeros(2), 0.5 * torch.ones(2))
        return (explain - kl_divergence(q, prior).sum(-1)).mean()


def world(n):
    origin = 0.5 * torch.randn(n, 2)
    return origin, readings(origin) + 0.05 * torch.randn(n, 8)


def main(steps=150):
    torch.manual_seed(9)
    locator = Locator()
    opt = torch.optim.Adam(locator.parameters(), lr=0.01)
    for step in range(steps):
        _, nose = world(64)
        elbo = locator.bound(nose)
        opt.zero_grad()
        (-elbo).backward()
        opt.step()
        if step % 30 == 0:
            print(f"step {step:3d}  elbo {elbo.item():8.3f}  noise {locator.log_noise.exp().item():.3f}")
    origin, nose = world(256)
    with torch.no_grad():
        q = locator.posterior(nose)
    print(f"mean miss {(q.mean - origin).norm(dim=1).mean():.3f}, "
          f"mean spread {q.stddev.mean():.3f}, prior miss {origin.norm(dim=1).mean():.3f}")


if __name__ == "__main__":
    main()
