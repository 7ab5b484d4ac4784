# expect: pattern = none
# expect: raises = nothing
"""Discrete codes for bird song spectrogram frames; gradients summed over four recordings."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)


class Codebook(nn.Module):
    def __init__(self, n_codes=16, dim=8, decay=0.95):
        super().__init__()
        self.decay = decay
        self.register_buffer("codes", 0.15 * torch.randn(n_codes, dim))
        self.register_buffer("mass", torch.ones(n_codes))
        self.register_buffer("total", self.codes.clone())

    def forward(self, z):
        idx = torch.cdist(z.detach(), self.codes).argmin(dim=1)
        q = self.codes[idx]
        if self.training:
            self.follow(z.detach(), idx)
        commit = F.mse_loss(z, q)
        return z + (q - z).detach(), commit, idx

    def follow(self, z, idx):
        hot = F.one_hot(idx, len(self.codes)).float()
        self.mass.mul_(self.decay).add_(hot.sum(0), alpha=1 - self.decay)
        self.total.mul_(self.decay).add_(hot.t() @ z, alpha=1 - self.decay)
        self.codes = self.total / self.mass.clamp_min(1e-3).unsqueeze(1)


class SongCoder(nn.Module):
    def __init__(self, bins=24, dim=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(bins, 32), nn.ReLU(), nn.Linear(32, dim))
        self.book = Codebook(dim=dim)
        self.dec = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, bins))

    def forward(self, frames):
        q, commit, idx = self.book(self.enc(frames))
        return self.dec(q), commit, idx


def recording(n=40, bins=24):
    pitch = 12 + 8 * torch.sin(torch.linspace(0, 9, n) + 6 * torch.rand(1))
    return torch.exp(-0.5 * (torch.arange(bins) - pitch[:, None]) ** 2 / 4) + 0.02 * torch.rand(n, bins)


model = SongCoder()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
ACCUMULATE = 4
running = torch.zeros(())
used = set()
for i in range(1, 41):
    frames = recording()
    rebuilt, commit, idx = model(frames)
    loss = F.mse_loss(rebuilt, frames) + 0.25 * commit
    (loss / ACCUMULATE).backward()
    running += loss.detach()
    used.update(idx.tolist())
    if i % ACCUMULATE == 0:
        opt.step()
        opt.zero_grad()
    if i % 20 == 0:
        print(f"{i:3d} recordings  loss {running.item() / 20:.4f}  codes in use {len(used)}")
        running.zero_()
        used.clear()
