# expect: pattern = step-between-backwards
# expect: also = shared-subgraph
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = rec_a, rec_b, fake_b, fake_a, loss_cyc, G_ab, G_ba
"""Unpaired translation between the daily curves of two families of thermometers (old glass / new digital)."""
import itertools
import random

import torch
import torch.nn as nn


def curves(n, kind):
    t = torch.linspace(0, 1, 24)
    phase = torch.rand(n, 1)
    base = 10 + 8 * torch.rand(n, 1)
    day = base + 6 * torch.sin(2 * torch.pi * (t - 0.3 - 0.1 * phase))
    if kind == "glass":
        lagged = day.clone()
        for k in range(1, 24):
            lagged[:, k] = 0.7 * lagged[:, k - 1] + 0.3 * day[:, k]
        return (lagged - 14) / 8
    return (day + 0.4 * torch.randn(n, 24) - 14) / 8


def generator():
    return nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 24))


def critic():
    return nn.Sequential(nn.Linear(24, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))


class CycleTrainer:
    def __init__(self, lr=1e-3, lambda_cyc=10.0, lambda_id=2.0):
        self.G_ab, self.G_ba = generator(), generator()
        self.D_a, self.D_b = critic(), critic()
        self.opt_ab = torch.optim.Adam(self.G_ab.parameters(), lr=lr, betas=(0.5, 0.999))
        self.opt_ba = torch.optim.Adam(self.G_ba.parameters(), lr=lr, betas=(0.5, 0.999))
        self.opt_d = torch.optim.Adam(itertools.chain(self.D_a.parameters(), self.D_b.parameters()), lr=lr)
        self.gan = nn.MSELoss()
        self.l1 = nn.L1Loss()
        self.lambda_cyc, self.lambda_id = lambda_cyc, lambda_id

    def forward(self, a, b):
        self.fake_b = self.G_ab(a)
        self.rec_a = self.G_ba(self.fake_b)
        self.fake_a = self.G_ba(b)
        self.rec_b = self.G_ab(self.fake_a)

    def adversarial(self, critic, fake):
        score = critic(fake)
        return self.gan(score, torch.ones_like(score))

    def update_generators(self, a, b):
        for p in itertools.chain(self.D_a.parameters(), self.D_b.parameters()):
            p.requires_grad_(False)

        loss_ab = (self.adversarial(self.D_b, self.fake_b) + self.lambda_cyc * self.l1(self.rec_a, a)
                   + self.lambda_id * self.l1(self.G_ab(b), b))
        self.opt_ab.zero_grad()
        loss_ab.backward(retain_graph=True)
        self.opt_ab.step()  # expect: place

        loss_ba = (self.adversarial(self.D_a, self.fake_a) + self.lambda_cyc * self.l1(self.rec_b, b)
                   + self.lambda_id * self.l1(self.G_ba(a), a))
        self.opt_ba.zero_grad()
        loss_ba.backward()  # expect: place
        self.opt_ba.step()
        return loss_ab.item(), loss_ba.item()

    def update_critics(self, a, b):
        for p in itertools.chain(self.D_a.parameters(), self.D_b.parameters()):
            p.requires_grad_(True)
        self.opt_d.zero_grad()
        loss = 0
        for critic, real, fake in ((self.D_a, a, self.fake_a), (self.D_b, b, self.fake_b)):
            real_score, fake_score = critic(real), critic(fake.detach())
            loss = loss + self.gan(real_score, torch.ones_like(real_score))
            loss = loss + self.gan(fake_score, torch.zeros_like(fake_score))
        loss.backward()
        self.opt_d.step()
        return loss.item()

    def step(self, a, b):
        self.forward(a, b)
        g = self.update_generators(a, b)
        d = self.update_critics(a, b)
        return (*g, d)


if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    trainer = CycleTrainer()
    for it in range(10):
        out = trainer.step(curves(16, "glass"), curves(16, "digital"))
        if it % 3 == 0:
            print(it, " ".join(f"{v:.3f}" for v in out))
