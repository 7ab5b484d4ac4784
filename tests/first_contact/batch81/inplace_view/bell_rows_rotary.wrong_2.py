"""Change ringing: which bell comes next in a method, by attention with rotary places."""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def rotary_table(length, width):
    rate = 1.0 / 100 ** (torch.arange(0, width, 2) / width)
    angle = torch.arange(length)[:, None] * rate[None]
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


class RotaryAttention(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads, self.per_head = heads, width // heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width)
        cos, sin = rotary_table(length, self.per_head)
        self.register_buffer("cos", cos)
        self.register_buffer("sin", sin)
        self.scale = 1 / math.sqrt(self.per_head)

    def split_heads(self, x):
        return x.unflatten(-1, (self.heads, self.per_head)).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.detach().clone()
        q *= self.scale
        q, k, v = self.split_heads(q), self.split_heads(k), self.split_heads(v)
        n = x.shape[1]
        q = rotate(q, self.cos[:n], self.sin[:n])
        k = rotate(k, self.cos[:n], self.sin[:n])
        later = torch.ones(n, n, dtype=torch.bool).triu(1)
        weights = (q @ k.transpose(-1, -2)).masked_fill(later, -1e9).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))


class Ringer(nn.Module):
    def __init__(self, bells, width=24, length=48):
        super().__init__()
        self.bell = nn.Embedding(bells, width)
        self.norm = nn.LayerNorm(width)
        self.attention = RotaryAttention(width, 2, length)
        self.head = nn.Linear(width, bells)

    def forward(self, rows):
        x = self.bell(rows)
        x = x + self.attention(self.norm(x))
        return self.head(x)


def plain_hunt(bells, changes, start):
    row, rows = list(start), []
    for change in range(changes):
        rows.extend(row)
        for i in range(change % 2, bells - 1, 2):
            row[i], row[i + 1] = row[i + 1], row[i]
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bells", type=int, default=6)
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    torch.manual_seed(1)
    starts = [torch.randperm(args.bells).tolist() for _ in range(16)]
    rows = torch.tensor([plain_hunt(args.bells, 7, s) for s in starts])
    model = Ringer(args.bells)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(args.steps):
        logits = model(rows[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), rows[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(step, round(loss.item(), 4))


main()
