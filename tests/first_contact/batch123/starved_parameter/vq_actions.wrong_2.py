"""Discrete latent actions from pairs of frames (vector-quantised bottleneck)."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    frame: int = 12
    code_dim: int = 6
    n_codes: int = 8
    beta: float = 0.25
    steps: int = 60
    batch: int = 32
    seed: int = 0


class VectorQuantizer(nn.Module):
    def __init__(self, n_codes, dim):
        super().__init__()
        self.codebook = nn.Embedding(n_codes, dim)
        nn.init.uniform_(self.codebook.weight, -1.0 / n_codes, 1.0 / n_codes)

    def forward(self, z_e):
        dist = torch.cdist(z_e, self.codebook.weight)
        indices = dist.argmin(dim=-1)
        codes = self.codebook(indices)
        z_q = codes
        return z_q, indices


class LatentActionModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.beta = cfg.beta
        self.encoder = nn.Sequential(nn.Linear(2 * cfg.frame, 48), nn.GELU(), nn.Linear(48, cfg.code_dim))
        self.vq = VectorQuantizer(cfg.n_codes, cfg.code_dim)
        self.decoder = nn.Sequential(nn.Linear(cfg.frame + cfg.code_dim, 48), nn.GELU(), nn.Linear(48, cfg.frame))

    def encode(self, frame, next_frame):
        z_e = self.encoder(torch.cat([frame, next_frame], dim=-1))
        z_q, indices = self.vq(z_e)
        return z_e, z_q, indices

    def forward(self, frame, next_frame):
        z_e, z_q, indices = self.encode(frame, next_frame)
        recon = self.decoder(torch.cat([frame, z_q], dim=-1))
        recon_loss = F.mse_loss(recon, next_frame)
        codebook_loss = F.mse_loss(z_q, z_e.detach())
        commit_loss = F.mse_loss(z_e, z_q.detach())
        loss = recon_loss + codebook_loss + self.beta * commit_loss
        return loss, {"recon": recon_loss.item(), "codes_used": indices.unique().numel()}


def frame_pairs(cfg, gen):
    """A one-hot agent on a ring; hidden action moves it by -1, 0, +1 or +3."""
    pos = torch.randint(cfg.frame, (cfg.batch,), generator=gen)
    move = torch.tensor([-1, 0, 1, 3])[torch.randint(4, (cfg.batch,), generator=gen)]
    a = F.one_hot(pos, cfg.frame).float()
    b = F.one_hot((pos + move) % cfg.frame, cfg.frame).float()
    return a, b


def train(cfg):
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed)
    model = LatentActionModel(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(cfg.steps):
        frame, next_frame = frame_pairs(cfg, gen)
        loss, logs = model(frame, next_frame)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0 or step == cfg.steps - 1:
            print(f"step {step:3d}  loss {loss.item():.4f}  recon {logs['recon']:.4f}  codes {logs['codes_used']}")
    return model


if __name__ == "__main__":
    train(Config())
