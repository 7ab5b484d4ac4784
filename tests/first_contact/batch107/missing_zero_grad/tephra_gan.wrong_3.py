"""Ash fall: grain-size curves of tephra by distance from the vent, from a small conditional GAN.

Few outcrops have been sieved, so the curves between them are to be drawn from a generator that
knows the distance (km) and the height of the column.
"""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

PHI = torch.linspace(-4, 6, 16)  # sieves, coarse to fine


def outcrops(n):
    """Weight per sieve at n places; two modes, since fine ash falls as clumps as well."""
    km = torch.rand(n) * 4.5 + 0.5
    column = torch.rand(n) * 20 + 8
    centre = -2.5 + 1.1 * km.sqrt() * (20 / column).sqrt() * 1.6 + 0.2 * torch.randn(n)
    width = 1.1 + 0.1 * torch.rand(n)
    curve = torch.exp(-0.5 * ((PHI - centre[:, None]) / width[:, None]) ** 2)
    clumps = 0.25 * torch.exp(-0.5 * ((PHI - 4.0) / 0.7) ** 2)
    curve = curve + clumps * (km / 5)[:, None]
    return curve / curve.sum(1, keepdim=True), torch.stack([km / 5, column / 28], 1)


class Generator(nn.Module):
    def __init__(self, noise=6, hidden=48):
        super().__init__()
        self.noise = noise
        self.net = nn.Sequential(
            nn.Linear(noise + 2, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, len(PHI)))

    def forward(self, place):
        z = torch.randn(len(place), self.noise)
        return torch.softmax(self.net(torch.cat([z, place], 1)), 1)


class Critic(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.look = nn.Sequential(nn.Linear(len(PHI) + 2, hidden), nn.LeakyReLU(0.2))
        self.judge = nn.Sequential(nn.Linear(hidden, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, 1))

    def forward(self, curve, place):
        seen = self.look(torch.cat([10 * curve, place], 1))
        return self.judge(seen).squeeze(1), seen


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, 0.0, 0.12)
        nn.init.zeros_(m.bias)


class Trainer:
    def __init__(self, opt):
        self.gen, self.critic = Generator().apply(weights_init), Critic().apply(weights_init)
        self.opt_g = torch.optim.Adam(self.gen.parameters(), lr=opt.lr, betas=(0.5, 0.99))
        self.opt_d = torch.optim.Adam(self.critic.parameters(), lr=opt.lr, betas=(0.5, 0.99))
        self.matching = opt.matching

    def batch(self, curve, place):
        fake = self.gen(place)

        on_real, seen_real = self.critic(curve, place)
        on_fake, _ = self.critic(fake.detach(), place)
        d_loss = F.binary_cross_entropy_with_logits(on_real, torch.full_like(on_real, 0.9))
        d_loss = d_loss + F.binary_cross_entropy_with_logits(on_fake, torch.zeros_like(on_fake))
        d_loss.backward()
        self.opt_d.zero_grad()
        self.opt_d.step()

        on_fake, seen_fake = self.critic(fake, place)
        g_loss = F.binary_cross_entropy_with_logits(on_fake, torch.ones_like(on_fake))
        gap = seen_fake.mean(0) - seen_real.mean(0).detach()
        g_loss = g_loss + self.matching * gap.pow(2).sum()
        g_loss.backward()
        self.opt_g.step()
        self.opt_g.zero_grad()
        return d_loss.item(), g_loss.item()


@torch.no_grad()
def distance(gen):
    """Energy distance of drawn and real (cumulative curve, place)."""
    (curve, place), (other, elsewhere) = outcrops(300), outcrops(300)
    a = torch.cat([gen(place).cumsum(1), place], 1)
    b = torch.cat([other.cumsum(1), elsewhere], 1)
    d = torch.cdist
    return (2 * d(a, b).mean() - d(a, a).mean() - d(b, b).mean()).item()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=160)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--matching", type=float, default=0.5)
    opt = ap.parse_args([])
    torch.manual_seed(1815)
    curves, places = outcrops(512)
    trainer = Trainer(opt)
    for step in range(opt.steps):
        rows = torch.randint(0, len(curves), (opt.batch,))
        d, g = trainer.batch(curves[rows], places[rows])
        if step % 40 == 39:
            print(f"{step + 1:4d}  critic {d:.3f}  generator {g:.3f}  distance {distance(trainer.gen):.4f}")
