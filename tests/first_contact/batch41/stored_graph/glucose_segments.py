# expect: pattern = stored-graph
# expect: also = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.memory, self.norm, memory, norm
"""Long glucose records, read in segments of one night. Local attention plus a compressive memory
(linear attention over everything seen before), so that a record of a month fits."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    dim: int = 24
    heads: int = 3
    segment: int = 16
    n_segments: int = 4
    patients: int = 6
    lr: float = 2e-3
    epochs: int = 2


class CompressiveAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.head_dim = heads, dim // heads
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.proj = nn.Linear(dim, dim)
        self.gate = nn.Parameter(torch.zeros(1, heads, 1, 1))
        self.reset()

    def reset(self):
        self.memory = None
        self.norm = None

    def _retrieve(self, sigma_q):
        if self.memory is None:
            return torch.zeros_like(sigma_q)
        return sigma_q @ self.memory / (sigma_q @ self.norm + 1e-6)

    def _update(self, sigma_k, v):
        update = sigma_k.transpose(-2, -1) @ v
        norm = sigma_k.sum(dim=-2, keepdim=True).transpose(-2, -1)
        if self.memory is None:
            self.memory, self.norm = update, norm  # expect: place
        else:
            self.memory, self.norm = self.memory + update, self.norm + norm  # expect: place

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (t.view(b, n, self.heads, self.head_dim).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        local = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        remembered = self._retrieve(F.elu(q) + 1)  # expect: place
        self._update(F.elu(k) + 1, v)
        g = torch.sigmoid(self.gate)
        out = g * remembered + (1 - g) * local
        return self.proj(out.transpose(1, 2).reshape(b, n, -1))


class Forecaster(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Linear(1, cfg.dim)
        self.norm1, self.norm2 = nn.LayerNorm(cfg.dim), nn.LayerNorm(cfg.dim)
        self.attn = CompressiveAttention(cfg.dim, cfg.heads)
        self.mlp = nn.Sequential(nn.Linear(cfg.dim, 2 * cfg.dim), nn.GELU(), nn.Linear(2 * cfg.dim, cfg.dim))
        self.head = nn.Linear(cfg.dim, 1)

    def forward(self, x):
        h = self.embed(x)
        h = h + self.attn(self.norm1(h))
        h = h + self.mlp(self.norm2(h))
        return self.head(h)


def records(cfg):
    t = torch.arange(cfg.segment * cfg.n_segments + 1).float()
    phase = 6.28 * torch.rand(cfg.patients, 1)
    meal = torch.sin(t / 5 + phase) + 0.4 * torch.sin(t / 1.7 + 2 * phase)
    return (meal + 0.1 * torch.randn_like(meal)).unsqueeze(-1)


def main():
    cfg = Config()
    torch.manual_seed(5)
    data = records(cfg)
    model = Forecaster(cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        model.attn.reset()
        for s in range(cfg.n_segments):
            a = s * cfg.segment
            x, y = data[:, a:a + cfg.segment], data[:, a + 1:a + cfg.segment + 1]
            loss = F.smooth_l1_loss(model(x), y)
            opt.zero_grad()
            loss.backward()  # expect: place
            opt.step()
            print(f"epoch {epoch} segment {s} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
