import torch
import torch.nn as nn
import torch.nn.functional as F


class Rotary(nn.Module):
    def __init__(self, dim, learned=True):
        super().__init__()
        base = 1.0 / (100 ** (torch.arange(0, dim, 2).float() / dim))
        self.freqs = nn.Parameter(base, requires_grad=learned)
        self.cached_freqs = None

    def forward(self, seq_len):
        if self.cached_freqs is not None and self.cached_freqs[0].size(0) >= seq_len:
            cos, sin = self.cached_freqs
            return cos[:seq_len], sin[:seq_len]
        angles = torch.arange(seq_len).float()[:, None] * self.freqs
        self.cached_freqs = (angles.cos().detach(), angles.sin().detach())
        return self.cached_freqs


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.rotary = Rotary(dim)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        cos, sin = self.rotary(x.size(1))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True))


torch.manual_seed(0)
layer = Attention(8)
opt = torch.optim.AdamW(layer.parameters(), lr=1e-2)
for step in range(4):
    x = torch.randn(2, 6, 8)
    loss = F.mse_loss(layer(x), x.cumsum(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
