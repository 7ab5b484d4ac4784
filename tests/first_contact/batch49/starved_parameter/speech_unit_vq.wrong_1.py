


"""Discrete speech units: a small VQ auto-encoder over filter-bank frames.

Losses: reconstruction, codebook (moves the codes to the encoder's output) and commitment
(keeps the encoder near its codes).
"""
from dataclasses import dataclass

import torch
from torch import Tensor, nn
import torch.nn.functional as F


@dataclass(frozen=True)
class Config:
    n_mels: int = 20
    context: int = 3
    code_dim: int = 8
    n_codes: int = 24
    beta: float = 0.25
    lr: float = 3e-3
    batch: int = 64
    steps: int = 120


class Quantiser(nn.Module):
    def __init__(self, n_codes: int, dim: int, beta: float):
        super().__init__()
        self.codebook = nn.Embedding(n_codes, dim)
        self.beta = beta

    @torch.no_grad()
    def start_from(self, z: Tensor) -> None:
        """Codes begin at encoder outputs, otherwise most of them are never used."""
        rows = torch.randint(0, len(z), (self.codebook.num_embeddings,))
        self.codebook.weight.copy_(z[rows])

    def nearest(self, z: Tensor) -> Tensor:
        codes = self.codebook.weight
        dist = z.pow(2).sum(1, keepdim=True) - 2 * z @ codes.t() + codes.pow(2).sum(1)
        return dist.argmin(dim=1)

    def forward(self, z: Tensor):
        units = self.nearest(z)
        quantised = self.codebook(units)
        codebook_loss = F.mse_loss(quantised.detach(), z)
        commitment = F.mse_loss(z, quantised.detach())
        loss = codebook_loss + self.beta * commitment
        passed = z + (quantised - z)                # straight-through
        return passed, units, loss


class UnitAutoencoder(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        size = cfg.n_mels * cfg.context
        self.encoder = nn.Sequential(nn.Linear(size, 48), nn.GELU(), nn.Linear(48, cfg.code_dim))
        self.quantiser = Quantiser(cfg.n_codes, cfg.code_dim, cfg.beta)
        self.decoder = nn.Sequential(nn.Linear(cfg.code_dim, 48), nn.GELU(), nn.Linear(48, size))

    def forward(self, frames: Tensor):
        z = self.encoder(frames)
        passed, units, vq_loss = self.quantiser(z)
        return self.decoder(passed), units, vq_loss


def babble(cfg: Config, rng: torch.Generator) -> Tensor:
    """Vowel-like frames: two formants, stacked with neighbours, plus noise."""
    mel = torch.linspace(0, 1, cfg.n_mels)
    vowel = torch.randint(0, 6, (cfg.batch, 1), generator=rng)
    f1 = 0.15 + 0.08 * (vowel % 3)
    f2 = 0.5 + 0.15 * (vowel // 3) + 0.05 * (vowel % 2)
    frame = torch.exp(-((mel - f1) / 0.06) ** 2) + 0.8 * torch.exp(-((mel - f2) / 0.08) ** 2)
    stacked = frame.repeat(1, cfg.context)
    return stacked + 0.1 * torch.randn(stacked.shape, generator=rng)


def usage(units: Tensor, n_codes: int) -> float:
    """perplexity of the code distribution"""
    p = torch.bincount(units, minlength=n_codes).float() / len(units)
    return torch.exp(-(p * (p + 1e-9).log()).sum()).item()


def main(cfg: Config = Config()) -> None:
    torch.manual_seed(14)
    rng = torch.Generator().manual_seed(15)
    model = UnitAutoencoder(cfg)
    model.quantiser.start_from(model.encoder(babble(cfg, rng)))
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for step in range(cfg.steps):
        frames = babble(cfg, rng)
        recon, units, vq_loss = model(frames)
        recon_loss = F.mse_loss(recon, frames)
        loss = recon_loss + vq_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 30 == 29:
            print(f"step {step + 1:3d}  recon {recon_loss.item():.4f}  vq {vq_loss.item():.4f}"
                  f"  perplexity {usage(units, cfg.n_codes):.1f}")


if __name__ == "__main__":
    main()
