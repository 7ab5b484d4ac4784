"""WGAN-GP on two-dimensional points: n_critic critic steps, then one generator step."""
import torch
from torch import nn


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


class WGANTrainer:
    def __init__(self, z_dim=4, lam=10.0, n_critic=2):
        self.G, self.C = mlp(z_dim, 16, 2), mlp(2, 16, 1)
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=1e-4, betas=(0.0, 0.9))
        self.opt_c = torch.optim.Adam(self.C.parameters(), lr=1e-4, betas=(0.0, 0.9))
        self.z_dim, self.lam, self.n_critic = z_dim, lam, n_critic

    def gradient_penalty(self, real, fake):
        eps = torch.rand(len(real), 1)
        mixed = (eps * real + (1 - eps) * fake.detach()).requires_grad_(True)
        (grad,) = torch.autograd.grad(self.C(mixed).sum(), mixed, create_graph=True)
        return (grad.norm(2, dim=1) - 1).pow(2).mean()

    def step(self, real):
        with torch.no_grad():
            fake = self.G(torch.randn(len(real), self.z_dim))
        fake.requires_grad_()
        for _ in range(self.n_critic):
            gap = self.C(fake).mean() - self.C(real).mean()
            loss_c = gap + self.lam * self.gradient_penalty(real, fake)
            self.opt_c.zero_grad()
            loss_c.backward()
            self.opt_c.step()
        self.opt_g.zero_grad()
        (-self.C(fake).mean()).backward()
        self.opt_g.step()


torch.manual_seed(0)
trainer = WGANTrainer()
for _ in range(3):
    trainer.step(torch.randn(8, 2) * 0.2 + 1.0)
