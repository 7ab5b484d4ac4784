import itertools

import torch
import torch.nn as nn

torch.manual_seed(11)

DIM = 6
LAMBDA_CYC, LAMBDA_IDT = 10.0, 2.0


def generator():
    return nn.Sequential(nn.Linear(DIM, 20), nn.ReLU(inplace=True), nn.Linear(20, DIM), nn.Tanh())


def discriminator():
    return nn.Sequential(nn.Linear(DIM, 20), nn.LeakyReLU(0.2, inplace=True), nn.Linear(20, 1))


class CycleModel:
    """A to B and back; every update goes through self.optimizers in turn."""

    def __init__(self, lr=1e-3):
        self.netG_A, self.netG_B = generator(), generator()
        self.netD_A, self.netD_B = discriminator(), discriminator()
        self.gan, self.l1 = nn.MSELoss(), nn.L1Loss()
        gen = itertools.chain(self.netG_A.parameters(), self.netG_B.parameters())
        self.optimizers = {
            "D_A": torch.optim.Adam(self.netD_A.parameters(), lr=lr, betas=(0.5, 0.999)),
            "D_B": torch.optim.Adam(self.netD_B.parameters(), lr=lr, betas=(0.5, 0.999)),
            "G": torch.optim.Adam(gen, lr=lr, betas=(0.5, 0.999)),
        }

    def is_real(self, net, x):
        out = net(x)
        return self.gan(out, torch.ones_like(out))

    def is_fake(self, net, x):
        out = net(x)
        return self.gan(out, torch.zeros_like(out))

    def compute_losses(self, real_A, real_B):
        fake_B, fake_A = self.netG_A(real_A), self.netG_B(real_B)
        rec_A, rec_B = self.netG_B(fake_B), self.netG_A(fake_A)
        cycle = self.l1(rec_A, real_A) + self.l1(rec_B, real_B)
        identity = self.l1(self.netG_A(real_B), real_B) + self.l1(self.netG_B(real_A), real_A)
        return {
            "D_A": 0.5 * (self.is_real(self.netD_A, real_B) + self.is_fake(self.netD_A, fake_B.detach())),
            "D_B": 0.5 * (self.is_real(self.netD_B, real_A) + self.is_fake(self.netD_B, fake_A.detach())),
            "G": self.is_real(self.netD_A, fake_B) + self.is_real(self.netD_B, fake_A)
            + LAMBDA_CYC * cycle + LAMBDA_IDT * identity,
        }

    def optimize_parameters(self, real_A, real_B):
        for name in ("D_A", "D_B", "G"):
            losses = self.compute_losses(real_A, real_B)
            self.optimizers[name].zero_grad()
            losses[name].backward()
            self.optimizers[name].step()
        return {name: loss.item() for name, loss in losses.items()}


model = CycleModel()
for epoch in range(2):
    for step in range(4):
        a = torch.tanh(torch.randn(8, DIM))
        b = torch.tanh(torch.randn(8, DIM) + 0.5)
        stats = model.optimize_parameters(a, b)
    print(epoch, " ".join("%s: %.3f" % kv for kv in stats.items()))
