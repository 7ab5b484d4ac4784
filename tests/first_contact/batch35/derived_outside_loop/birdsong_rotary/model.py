import torch
from torch import nn

from rotary import RotaryEmbedding


class Attention(nn.Module):
    def __init__(self, dim, heads, rotary):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.norm = nn.LayerNorm(dim)
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Linear(dim, dim, bias=False)
        self.rotary = rotary

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (
            t.view(b, n, self.heads, -1).transpose(1, 2) for t in self.to_qkv(self.norm(x)).chunk(3, dim=-1)
        )
        q = self.rotary.rotate_queries_or_keys(q)
        k = self.rotary.rotate_queries_or_keys(k)
        sim = (q @ k.transpose(-1, -2)) * self.scale
        mask = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
        attn = sim.masked_fill(mask, torch.finfo(sim.dtype).min).softmax(dim=-1)
        return self.to_out((attn @ v).transpose(1, 2).reshape(b, n, d))


class SyllableLM(nn.Module):
    """Next-syllable model of a song."""

    def __init__(self, num_syllables, dim=32, depth=2, heads=4, learned_freq=True):
        super().__init__()
        self.emb = nn.Embedding(num_syllables, dim)
        rotary = RotaryEmbedding(dim // heads, learned_freq=learned_freq)
        self.layers = nn.ModuleList()
        for _ in range(depth):
            ff = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim * 2), nn.GELU(), nn.Linear(dim * 2, dim))
            self.layers.append(nn.ModuleList([Attention(dim, heads, rotary), ff]))
        self.to_logits = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, num_syllables))

    def forward(self, x):
        x = self.emb(x)
        for attn, ff in self.layers:
            x = x + attn(x)
            x = x + ff(x)
        return self.to_logits(x)
