"""A small retentive network, read chunk by chunk."""
import torch
from torch import nn


class Retention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width)
        self.norm = nn.LayerNorm(self.size)
        self.register_buffer("gamma", 1 - 2.0 ** (-3 - torch.arange(heads).float()))

    def forward(self, x, carry):
        b, t, _ = x.shape
        q, k, v = (p.view(b, t, self.heads, self.size).transpose(1, 2) for p in self.qkv(x).chunk(3, dim=-1))
        age = torch.arange(t)[:, None] - torch.arange(t)[None, :]
        decay = self.gamma[:, None, None] ** age.clamp(min=0) * (age >= 0)
        inner = torch.einsum("bhid,bhjd,hij->bhij", q, k, decay / self.size**0.5) @ v
        reach = self.gamma[:, None] ** torch.arange(1, t + 1)
        left = self.gamma[:, None] ** torch.arange(t - 1, -1, -1)
        fresh = torch.einsum("bhtd,bhte,ht->bhde", k, v, left / self.size**0.5)
        if carry is None:
            return self._merge(inner), fresh
        cross = torch.einsum("bhtd,bhde,ht->bhte", q, carry, reach)  # expect: place
        carry = carry * self.gamma[:, None, None] ** t + fresh  # expect: place
        return self._merge(inner + cross), carry

    def _merge(self, heads):
        return self.out(self.norm(heads).transpose(1, 2).flatten(2))


class RetNet(nn.Module):
    def __init__(self, vocabulary, width=16, depth=2, heads=2):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.mixers = nn.ModuleList(Retention(width, heads) for _ in range(depth))
        self.feeds = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
            for _ in range(depth)
        )
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens, carries=None):
        carries = carries or [None] * len(self.mixers)
        x, left = self.embed(tokens), []
        for mixer, feed, carry in zip(self.mixers, self.feeds, carries):
            mixed, carry = mixer(x, carry)  # expect: place
            x = x + mixed
            x = x + feed(x)
            left.append(carry)
        return self.head(x), left
