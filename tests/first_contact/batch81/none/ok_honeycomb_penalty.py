# expect: pattern = none
# expect: raises = nothing
"""Cell sizes of honeycombs from a generator; the critic's slope is penalised (WGAN-GP)."""
import contextlib

import torch
import torch.nn as nn


@contextlib.contextmanager
def frozen(module):
    for p in module.parameters():
        p.requires_grad_(False)
    try:
        yield
    finally:
        for p in module.parameters():
            p.requires_grad_(True)


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


class CombGAN:
    def __init__(self, latent=3, n_cells=6, penalty=5.0):
        self.latent, self.penalty = latent, penalty
        self.generator = mlp(latent, 24, n_cells)
        self.critic = mlp(n_cells, 24, 1)
        self.opt_g = torch.optim.Adam(self.generator.parameters(), lr=2e-3, betas=(0.5, 0.9))
        self.opt_c = torch.optim.Adam(self.critic.parameters(), lr=4e-3, betas=(0.5, 0.9))
        self.log = {"critic": [], "slope": [], "generator": []}

    def noise(self, n):
        return torch.randn(n, self.latent)

    def slope(self, real, fake):
        mix = torch.rand(len(real), 1)
        between = (mix * real + (1 - mix) * fake).requires_grad_(True)
        grad, = torch.autograd.grad(self.critic(between).sum(), between, create_graph=True)
        return grad.norm(dim=1)

    def critic_step(self, real):
        with torch.no_grad():
            fake = self.generator(self.noise(len(real)))
        slope = self.slope(real, fake)
        wasserstein = self.critic(fake).mean() - self.critic(real).mean()
        loss = wasserstein + self.penalty * (slope - 1).pow(2).mean()
        self.opt_c.zero_grad(set_to_none=True)
        loss.backward()
        self.opt_c.step()
        self.log["critic"].append(wasserstein.item())
        self.log["slope"].append(slope.mean().item())

    def generator_step(self, n):
        with frozen(self.critic):
            loss = -self.critic(self.generator(self.noise(n))).mean()
            self.opt_g.zero_grad(set_to_none=True)
            loss.backward()
        self.opt_g.step()
        self.log["generator"].append(loss.item())


def combs(n):
    size = 1.0 + 0.2 * torch.randn(n, 1)
    return size + 0.05 * torch.randn(n, 6) * torch.linspace(0.5, 1.5, 6)


def main():
    torch.manual_seed(31)
    gan = CombGAN()
    for step in range(15):
        for _ in range(3):
            gan.critic_step(combs(32))
        gan.generator_step(32)
        if step % 5 == 4:
            print(f"step {step + 1}: " + ", ".join(f"{k} {v[-1]:.3f}" for k, v in gan.log.items()))


main()
