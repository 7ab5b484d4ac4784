# expect: pattern = none
# expect: raises = nothing
"""VAE whose prior is a coupling flow, trained in turns with it.

The flow is fitted to the latents that the encoder gives now; the encoder is
regularised by the flow as it stands. Gradients are collected over micro-batches.
"""
import math
from contextlib import contextmanager

import torch
from torch import nn

torch.manual_seed(15)
D, Z, MICRO = 10, 4, 3


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(Z // 2, 16), nn.Tanh(), nn.Linear(16, Z))

    def forward(self, z):
        a, b = z.chunk(2, dim=1)
        if self.flip:
            a, b = b, a
        log_s, t = self.net(a).chunk(2, dim=1)
        log_s = torch.tanh(log_s)
        parts = (b * log_s.exp() + t, a) if self.flip else (a, b * log_s.exp() + t)
        return torch.cat(parts, dim=1), log_s.sum(1)


class FlowPrior(nn.Module):
    def __init__(self, depth=4):
        super().__init__()
        self.layers = nn.ModuleList([Coupling(bool(i % 2)) for i in range(depth)])

    def log_prob(self, z):
        total = 0
        for layer in self.layers:
            z, logdet = layer(z)
            total = total + logdet
        return total - 0.5 * (z.square() + math.log(2 * math.pi)).sum(1)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(D, 24), nn.ELU(), nn.Linear(24, 2 * Z))
        self.dec = nn.Sequential(nn.Linear(Z, 24), nn.ELU(), nn.Linear(24, D))

    def posterior(self, x):
        mu, log_sd = self.enc(x).chunk(2, dim=1)
        noise = torch.randn_like(mu)
        z = mu + log_sd.exp() * noise
        log_q = -(0.5 * noise.square() + log_sd + 0.5 * math.log(2 * math.pi)).sum(1)
        return z, log_q


@contextmanager
def held(module):
    wanted = [p.requires_grad for p in module.parameters()]
    module.requires_grad_(False)
    try:
        yield module
    finally:
        for p, w in zip(module.parameters(), wanted):
            p.requires_grad_(w)


def micro_batches(n, size=16):
    mix = torch.randn(2, D)
    for _ in range(n):
        yield [torch.sin(torch.randn(size, 2) @ mix) for _ in range(MICRO)]


def fit(rounds=8, beta=0.5):
    vae, prior = VAE(), FlowPrior()
    opt_vae = torch.optim.Adam(vae.parameters(), lr=2e-3)
    opt_prior = torch.optim.Adam(prior.parameters(), lr=4e-3)
    smooth, latents = None, []
    for chunks in micro_batches(rounds):
        latents.clear()
        elbo = 0.0
        for x in chunks:
            z, log_q = vae.posterior(x)
            latents.append(z.detach())
            with held(prior):
                rate = (log_q - prior.log_prob(z)).mean()
            distortion = (vae.dec(z) - x).square().sum(1).mean()
            ((distortion + beta * rate) / MICRO).backward()
            elbo += (distortion + beta * rate).detach() / MICRO
        opt_vae.step()
        opt_vae.zero_grad()

        for z in (torch.cat(latents), torch.cat(latents[::-1])):
            nll = -prior.log_prob(z + 0.01 * torch.randn_like(z)).mean()
            nll.backward()
        opt_prior.step()
        opt_prior.zero_grad()
        smooth = elbo if smooth is None else 0.9 * smooth + 0.1 * elbo
        print(f"objective {smooth.item():.3f}  prior nll {nll.item():.3f}")


if __name__ == "__main__":
    fit()
