# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = grad_real, real_scores, penalty
"""Non-saturating GAN with R1 regularisation every few steps (lazy)."""
import copy
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass(frozen=True)
class Options:
    latent: int = 5
    width: int = 24
    batch: int = 16
    steps: int = 10
    r1_every: int = 2
    r1_gamma: float = 4.0
    ema: float = 0.9


def r1(real, scores):
    (grad_real,) = torch.autograd.grad(scores.sum(), real)  # expect: place
    return grad_real.pow(2).flatten(1).sum(1).mean()


class GANTrainer:
    def __init__(self, opts):
        self.o = opts
        w = opts.width
        self.G = nn.Sequential(nn.Linear(opts.latent, w), nn.SiLU(), nn.Linear(w, 2))
        self.D = nn.Sequential(nn.Linear(2, w), nn.SiLU(), nn.Linear(w, w), nn.SiLU(), nn.Linear(w, 1))
        self.G_ema = copy.deepcopy(self.G).requires_grad_(False)
        self.g_opt = torch.optim.Adam(self.G.parameters(), 2e-3, betas=(0.0, 0.99))
        self.d_opt = torch.optim.Adam(self.D.parameters(), 2e-3, betas=(0.0, 0.99))

    def latent(self):
        return torch.randn(self.o.batch, self.o.latent)

    def d_step(self, real, regularise):
        fake = self.G(self.latent()).detach()
        real = real.detach().requires_grad_(regularise)
        real_scores = self.D(real)
        loss = F.softplus(-real_scores).mean() + F.softplus(self.D(fake)).mean()
        if regularise:
            loss = loss + 0.5 * self.o.r1_gamma * self.o.r1_every * r1(real, real_scores)
        self.d_opt.zero_grad(set_to_none=True)
        loss.backward()  # expect: place
        self.d_opt.step()
        return loss.item()

    def g_step(self):
        loss = F.softplus(-self.D(self.G(self.latent()))).mean()
        self.g_opt.zero_grad(set_to_none=True)
        loss.backward()
        self.g_opt.step()
        with torch.no_grad():
            for p, q in zip(self.G_ema.parameters(), self.G.parameters()):
                p.copy_(q.lerp(p, self.o.ema))
        return loss.item()

    def run(self):
        for step in range(1, self.o.steps + 1):
            angle = torch.rand(self.o.batch) * 6.2832
            real = torch.stack([angle.cos(), angle.sin()], dim=1) + 0.02 * torch.randn(self.o.batch, 2)
            d = self.d_step(real, regularise=step % self.o.r1_every == 0)
            g = self.g_step()
            if step % 5 == 0:
                print(f"step {step:3d} d {d:.4f} g {g:.4f}")


torch.manual_seed(51)
GANTrainer(Options()).run()
