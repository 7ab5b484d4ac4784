"""VAE-GAN on synthetic spectra: the decoder is trained with a reconstruction and an adversarial term."""
import logging
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("vaegan")


@dataclass
class Config:
    n_bins: int = 32
    latent: int = 6
    hidden: int = 48
    batch_size: int = 32
    epochs: int = 2
    lr_gen: float = 1e-3
    lr_disc: float = 5e-4
    beta: float = 0.1
    adv_weight: float = 0.5
    seed: int = 11


class SpectrumVAE(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(cfg.n_bins, cfg.hidden), nn.ELU())
        self.to_mu = nn.Linear(cfg.hidden, cfg.latent)
        self.to_logvar = nn.Linear(cfg.hidden, cfg.latent)
        self.decoder = nn.Sequential(
            nn.Linear(cfg.latent, cfg.hidden), nn.ELU(), nn.Linear(cfg.hidden, cfg.n_bins)
        )

    def forward(self, x):
        h = self.encoder(x)
        mu, logvar = self.to_mu(h), self.to_logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.decoder(z), mu, logvar


class Critic(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(cfg.n_bins, cfg.hidden), nn.LeakyReLU(0.2))
        self.score = nn.Linear(cfg.hidden, 1)

    def forward(self, x):
        return self.score(self.body(x)).squeeze(-1)


def make_spectra(cfg, n=128):
    grid = torch.linspace(0, 1, cfg.n_bins)
    centre = torch.rand(n, 1)
    width = 0.05 + 0.1 * torch.rand(n, 1)
    return torch.exp(-((grid - centre) ** 2) / (2 * width**2)) + 0.01 * torch.randn(n, cfg.n_bins)


def kl_divergence(mu, logvar):
    return -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()


class VAEGANTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.vae = SpectrumVAE(cfg)
        self.critic = Critic(cfg)
        self.opt_gen = torch.optim.Adam(self.vae.parameters(), lr=cfg.lr_gen)
        self.opt_disc = torch.optim.Adam(self.critic.parameters(), lr=cfg.lr_disc)

    def train_step(self, x):
        recon, mu, logvar = self.vae(x)
        real_score = self.critic(x)
        fake_score = self.critic(recon.detach())
        gen_score = self.critic(recon)

        disc_loss = F.softplus(-real_score).mean() + F.softplus(fake_score).mean()
        adv_loss = F.softplus(-gen_score).mean()
        gen_loss = F.mse_loss(recon, x) + self.cfg.beta * kl_divergence(mu, logvar) + self.cfg.adv_weight * adv_loss

        self.opt_disc.zero_grad()
        disc_loss.backward(retain_graph=True)
        self.opt_disc.step()

        self.opt_gen.zero_grad()
        gen_loss.backward()
        self.opt_gen.step()
        return {"disc": disc_loss.item(), "gen": gen_loss.item()}

    def fit(self, loader):
        for epoch in range(self.cfg.epochs):
            for (x,) in loader:
                stats = self.train_step(x)
            log.info("epoch %d  disc %.4f  gen %.4f", epoch, stats["disc"], stats["gen"])


if __name__ == "__main__":
    config = Config()
    torch.manual_seed(config.seed)
    data = TensorDataset(make_spectra(config))
    VAEGANTrainer(config).fit(DataLoader(data, batch_size=config.batch_size, shuffle=True))
