import torch
import torch.nn.functional as F
from torch import nn


def permute_dims(z):
    return torch.stack([column[torch.randperm(len(z))] for column in z.unbind(1)], dim=1)


class FactorVAE(nn.Module):
    def __init__(self, pixels, latents=4, width=32, gamma=6.0):
        super().__init__()
        self.gamma = gamma
        self.encoder = nn.Sequential(nn.Linear(pixels, width), nn.ReLU(), nn.Linear(width, 2 * latents))
        self.decoder = nn.Sequential(nn.Linear(latents, width), nn.ReLU(), nn.Linear(width, pixels))
        self.critic = nn.Sequential(nn.Linear(latents, width), nn.LeakyReLU(0.2), nn.Linear(width, 2))
        self.trainer = None

    def configure_optimizers(self):
        body = [*self.encoder.parameters(), *self.decoder.parameters()]
        return [
            torch.optim.Adam(body, lr=2e-3),
            torch.optim.Adam(self.critic.parameters(), lr=1e-3, betas=(0.5, 0.9)),
        ]

    def encode(self, x):
        mean, logvar = self.encoder(x).chunk(2, dim=1)
        return mean + torch.randn_like(mean) * (0.5 * logvar).exp(), mean, logvar

    def training_step(self, x):
        z, mean, logvar = self.encode(x)  # expect: place
        misfit = F.binary_cross_entropy_with_logits(self.decoder(z), x, reduction="sum") / len(x)
        kl = -0.5 * (1 + logvar - mean**2 - logvar.exp()).sum(1).mean()
        d_z = self.critic(z)  # expect: place
        tc = (d_z[:, 0] - d_z[:, 1]).mean()
        vae_loss = misfit + kl + self.gamma * tc

        others, _, _ = self.encode(x.roll(1, 0))
        d_perm = self.critic(permute_dims(others).detach())
        joint = torch.zeros(len(x), dtype=torch.long)
        critic_loss = 0.5 * (F.cross_entropy(d_z, joint) + F.cross_entropy(d_perm, joint + 1))  # expect: place
        self.trainer.log(misfit=misfit, kl=kl, tc=tc, critic=critic_loss)
        return vae_loss, critic_loss
