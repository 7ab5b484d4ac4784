# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a leaf Variable that requires grad is being used in an in-place operation
# expect: carrier = self.W_enc, W_enc, self.b_enc, self.W_dec
"""Sparse autoencoder over residue embeddings of a protein language model (made-up activations)."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class SAEConfig:
    d_in: int = 16
    d_sae: int = 48
    l1_coefficient: float = 0.15
    lr: float = 4e-3
    batch: int = 64
    steps: int = 60
    resample_every: int = 20
    dead_window: int = 6
    seed: int = 42


class SparseAutoencoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.W_enc = nn.Parameter(torch.randn(cfg.d_in, cfg.d_sae) * 0.2)
        self.b_enc = nn.Parameter(torch.full((cfg.d_sae,), -1.0))
        self.W_dec = nn.Parameter(F.normalize(torch.randn(cfg.d_sae, cfg.d_in), dim=1))
        self.b_dec = nn.Parameter(torch.zeros(cfg.d_in))
        self.register_buffer("since_fired", torch.zeros(cfg.d_sae, dtype=torch.long))

    def forward(self, x):
        acts = F.relu((x - self.b_dec) @ self.W_enc + self.b_enc)
        fired = (acts > 0).any(0)
        self.since_fired += 1
        self.since_fired[fired] = 0
        recon = acts @ self.W_dec + self.b_dec
        mse = (recon - x).pow(2).sum(-1).mean()
        l1 = (acts * self.W_dec.norm(dim=1)).sum(-1).mean()
        return mse + self.cfg.l1_coefficient * l1, mse, acts

    @torch.no_grad()
    def normalise_decoder(self):
        self.W_dec /= self.W_dec.norm(dim=1, keepdim=True)

    def resample_dead(self, x):
        """dead features start again on inputs that are reconstructed badly"""
        dead = self.since_fired >= self.cfg.dead_window
        n_dead = int(dead.sum())
        if n_dead == 0:
            return 0
        with torch.no_grad():
            _, _, acts = self(x)
            err = (acts @ self.W_dec + self.b_dec - x).pow(2).sum(-1)
            picked = x[torch.multinomial(err, n_dead, replacement=True)]
            directions = F.normalize(picked - self.b_dec, dim=1)
        alive_norm = self.W_enc[:, ~dead].norm(dim=0).mean().item() if n_dead < self.cfg.d_sae else 1.0
        self.W_dec[dead] = directions  # expect: place
        self.W_enc[:, dead] = 0.2 * alive_norm * directions.T  # expect: place
        self.b_enc[dead] = 0.0  # expect: place
        self.since_fired[dead] = 0
        return n_dead


def residue_batch(cfg, dictionary):
    codes = F.relu(torch.randn(cfg.batch, dictionary.shape[0]) - 1.2)
    return codes @ dictionary + 0.02 * torch.randn(cfg.batch, cfg.d_in)


def train(cfg):
    torch.manual_seed(cfg.seed)
    dictionary = F.normalize(torch.randn(32, cfg.d_in), dim=1)
    sae = SparseAutoencoder(cfg)
    optim = torch.optim.Adam(sae.parameters(), lr=cfg.lr, betas=(0.0, 0.999))
    for step in range(1, cfg.steps + 1):
        x = residue_batch(cfg, dictionary)
        loss, mse, acts = sae(x)
        optim.zero_grad(set_to_none=True)
        loss.backward()
        optim.step()
        sae.normalise_decoder()
        if step % cfg.resample_every == 0:
            n = sae.resample_dead(x)
            l0 = (acts > 0).float().sum(1).mean().item()
            print(f"step {step} mse {mse.item():.4f} L0 {l0:.1f} resampled {n}")
    return sae


if __name__ == "__main__":
    train(SAEConfig())
