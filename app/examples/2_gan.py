"""A GAN that runs backward through its fake batch twice

The generator learns to place points on a ring; the discriminator distinguishes them from real ones.
"""

import torch
from torch import nn

torch.manual_seed(0)
NOISE = 8

generator = nn.Sequential(nn.Linear(NOISE, 32), nn.ReLU(), nn.Linear(32, 2))
discriminator = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
g_optimizer = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
d_optimizer = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()


def ring(count):
    angle = torch.rand(count, 1) * 6.2832
    return torch.cat([angle.cos(), angle.sin()], dim=1)


for step in range(20):
    real = ring(64)
    fake = generator(torch.randn(64, NOISE))

    d_optimizer.zero_grad()
    d_real = bce(discriminator(real), torch.ones(64, 1))
    d_fake = bce(discriminator(fake), torch.zeros(64, 1))
    d_loss = d_real + d_fake
    d_loss.backward()
    d_optimizer.step()

    g_optimizer.zero_grad()
    g_loss = bce(discriminator(fake), torch.ones(64, 1))
    g_loss.backward()
    g_optimizer.step()
    print(f"step {step}: d {d_loss.item():.3f}, g {g_loss.item():.3f}")
