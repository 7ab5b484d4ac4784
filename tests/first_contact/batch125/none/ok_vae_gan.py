"""VAE-GAN on two-dimensional rings: one reconstruction serves three losses."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)


class Encoder(nn.Module):
    def __init__(self, latent):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2 * latent))

    def forward(self, x):
        return self.body(x).chunk(2, dim=-1)


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 32), nn.LeakyReLU(0.2), nn.Linear(32, n_out))


def rings(n):
    radius = 1.0 + torch.randint(2, (n,)).float()
    angle = 2 * math.pi * torch.rand(n)
    points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=-1)
    return points + 0.05 * torch.randn(n, 2)


latent = 4
encoder, decoder, critic = Encoder(latent), mlp(latent, 2), mlp(2, 1)
opt_e = torch.optim.Adam(encoder.parameters(), lr=1e-3)
opt_g = torch.optim.Adam(decoder.parameters(), lr=1e-3)
opt_d = torch.optim.Adam(critic.parameters(), lr=1e-3)
log = {"encoder": 0.0, "decoder": 0.0, "critic": 0.0}

for step in range(60):
    real = rings(64)
    mu, logvar = encoder(real)
    z = mu + (0.5 * logvar).exp() * torch.randn_like(mu)
    fake = decoder(z)

    score_real, score_fake = critic(real), critic(fake.detach())
    d_loss = F.softplus(-score_real).mean() + F.softplus(score_fake).mean()
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    reconstruction = F.mse_loss(fake, real)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(-1).mean()
    e_loss = reconstruction + 0.05 * kl
    g_loss = reconstruction + 0.1 * F.softplus(-critic(fake)).mean()

    opt_e.zero_grad()
    e_loss.backward(retain_graph=True)
    opt_g.zero_grad()
    g_loss.backward(inputs=list(decoder.parameters()))
    opt_e.step()
    opt_g.step()

    for name, value in (("encoder", e_loss), ("decoder", g_loss), ("critic", d_loss)):
        log[name] += value.item()

print({name: round(total / 60, 4) for name, total in log.items()})
