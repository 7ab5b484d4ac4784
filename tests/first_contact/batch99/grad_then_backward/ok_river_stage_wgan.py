# expect: raises = nothing
"""Synthetic flood waves for a small river: a Wasserstein GAN with the penalty on the gradient."""
import math

import torch
import torch.nn as nn

STEPS, NOISE = 24, 6


def floods(n, gen):
    t = torch.linspace(0, 1, STEPS)
    peak = 0.25 + 0.3 * torch.rand(n, 1, generator=gen)
    rise = 0.05 + 0.05 * torch.rand(n, 1, generator=gen)
    wave = torch.where(t < peak, torch.exp(-((t - peak) / rise) ** 2), torch.exp(-(t - peak) / (3 * rise)))
    return wave * (0.5 + torch.rand(n, 1, generator=gen))


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(NOISE, 32), nn.LeakyReLU(0.2), nn.Linear(32, STEPS), nn.Softplus())

    def forward(self, n):
        return self.net(torch.randn(n, NOISE))


def make_critic():
    return nn.Sequential(nn.Linear(STEPS, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1, bias=False))


def penalty(critic, real, fake):
    mix = torch.rand(len(real), 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_()
    slope, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return ((slope.norm(dim=1) - 1) ** 2).mean()


def frozen(module, yes):
    for p in module.parameters():
        p.requires_grad_(not yes)


class Wgan:
    def __init__(self, rounds=20, critic_steps=3, batch=32):
        self.gen, self.critic = Generator(), make_critic()
        self.opt_g = torch.optim.Adam(self.gen.parameters(), lr=1e-3, betas=(0.0, 0.9))
        self.opt_c = torch.optim.Adam(self.critic.parameters(), lr=1e-3, betas=(0.0, 0.9))
        self.rounds, self.critic_steps, self.batch = rounds, critic_steps, batch

    def critic_step(self, real):
        with torch.no_grad():
            fake = self.gen(len(real))
        gap = self.critic(real).mean() - self.critic(fake).mean()
        self.opt_c.zero_grad()
        (-gap + 10.0 * penalty(self.critic, real, fake)).backward()
        self.opt_c.step()
        return gap.item()

    def generator_step(self):
        frozen(self.critic, True)
        loss = -self.critic(self.gen(self.batch)).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        frozen(self.critic, False)

    def fit(self, data, rng):
        for k in range(self.rounds):
            for _ in range(self.critic_steps):
                gap = self.critic_step(data[torch.randint(len(data), (self.batch,), generator=rng)])
            self.generator_step()
            if k % 5 == 4:
                with torch.no_grad():
                    crest = self.gen(200).amax(1).mean().item()
                print(f"{k + 1}: gap {gap:.3f}, mean crest {crest:.2f} (of data {data.amax(1).mean().item():.2f})")


if __name__ == "__main__":
    torch.manual_seed(34)
    rng = torch.Generator().manual_seed(34)
    Wgan().fit(floods(256, rng), rng)
