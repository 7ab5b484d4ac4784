"""WGAN-GP for synthetic return series, with an averaged generator for sampling."""
import argparse
import copy
import logging
from collections import defaultdict

import torch
import torch.nn as nn

log = logging.getLogger("wgan")


class Generator(nn.Module):
    def __init__(self, noise_dim, hidden, n_assets):
        super().__init__()
        self.noise_dim = noise_dim
        self.rnn = nn.GRU(noise_dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, n_assets)

    def forward(self, noise):
        h, _ = self.rnn(noise)
        return 0.1 * torch.tanh(self.out(h))


class Critic(nn.Module):
    def __init__(self, n_assets, hidden):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(n_assets, hidden, 5, padding=2), nn.LeakyReLU(0.2, inplace=True),
            nn.Conv1d(hidden, hidden, 5, padding=2, stride=2), nn.LeakyReLU(0.2, inplace=True))
        self.score = nn.Linear(hidden, 1)

    def forward(self, series):
        return self.score(self.body(series.transpose(1, 2)).mean(-1))


class Averages:
    def __init__(self):
        self.sums, self.counts = defaultdict(float), defaultdict(int)

    def update(self, **values):
        for name, value in values.items():
            self.sums[name] += float(value)
            self.counts[name] += 1

    def __str__(self):
        return " ".join(f"{k} {self.sums[k] / self.counts[k]:.4f}" for k in self.sums)


class MarketSampler:
    """Correlated AR(1) volatility returns."""

    def __init__(self, n_assets, length):
        self.length = length
        self.mix = 0.5 * torch.eye(n_assets) + 0.5 * torch.rand(n_assets, n_assets) / n_assets

    def __call__(self, n):
        vol = torch.full((n, 1), 0.02)
        rows = []
        for _ in range(self.length):
            vol = 0.01 + 0.6 * vol + 0.01 * torch.rand(n, 1)
            rows.append(vol * torch.randn(n, self.mix.size(0)) @ self.mix)
        return torch.stack(rows, dim=1)


def gradient_penalty(critic, real, fake):
    eps = torch.rand(real.size(0), 1, 1)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_(True)
    score = critic(mixed)
    grad, = torch.autograd.grad(score.sum(), mixed, create_graph=True, retain_graph=True)
    return ((grad.flatten(1).norm(dim=1) - 1) ** 2).mean()


@torch.no_grad()
def ema_update(average, model, decay=0.95):
    for a, p in zip(average.parameters(), model.parameters()):
        a.lerp_(p, 1 - decay)


def train(args):
    torch.manual_seed(args.seed)
    sampler = MarketSampler(args.assets, args.length)
    gen = Generator(6, 16, args.assets)
    critic = Critic(args.assets, 16)
    average = copy.deepcopy(gen).requires_grad_(False)
    opt_g = torch.optim.Adam(gen.parameters(), lr=args.lr, betas=(0.0, 0.9))
    opt_c = torch.optim.Adam(critic.parameters(), lr=args.lr, betas=(0.0, 0.9))
    for epoch in range(args.epochs):
        stats = Averages()
        for _ in range(args.gen_steps):
            for _ in range(args.critic_steps):
                real = sampler(args.batch_size)
                noise = torch.randn(args.batch_size, args.length, gen.noise_dim)
                with torch.no_grad():
                    fake = gen(noise)
                wasserstein = critic(fake).mean() - critic(real).mean()
                penalty = gradient_penalty(critic, real, fake)
                opt_c.zero_grad()
                wasserstein.backward()
                (args.gp_weight * penalty).backward()
                opt_c.step()
                stats.update(critic=wasserstein, gp=penalty)
            critic.requires_grad_(False)
            fake = gen(torch.randn(args.batch_size, args.length, gen.noise_dim))
            adv = -critic(fake).mean()
            drift = fake.mean().abs()
            opt_g.zero_grad()
            adv.backward(retain_graph=True)
            adv_norm = gen.out.weight.grad.norm().item()
            drift.backward()
            opt_g.step()
            critic.requires_grad_(True)
            ema_update(average, gen)
            stats.update(gen=adv, drift=drift, adv_norm=adv_norm)
        log.info("epoch %d %s", epoch, stats)
    with torch.no_grad():
        sample = average(torch.randn(64, args.length, gen.noise_dim))
    log.info("sample volatility %s", sample.std(dim=(0, 1)).tolist())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--gen-steps", type=int, default=4)
    parser.add_argument("--critic-steps", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--assets", type=int, default=3)
    parser.add_argument("--length", type=int, default=24)
    parser.add_argument("--gp-weight", type=float, default=10.0)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=8)
    logging.basicConfig(level=logging.INFO)
    train(parser.parse_args())
