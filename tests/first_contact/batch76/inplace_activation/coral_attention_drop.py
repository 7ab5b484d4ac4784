# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = attn
import math

import torch
from torch import nn, optim


class ReefAttention(nn.Module):
    """Self-attention over the colonies of a reef transect."""

    def __init__(self, dim, heads=2, drop=0.2):
        super().__init__()
        self.heads, self.d = heads, dim // heads
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.proj = nn.Linear(dim, dim)
        self.drop = drop

    def forward(self, x):
        b, n, c = x.shape
        qkv = self.to_qkv(x).reshape(b, n, 3, self.heads, self.d).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = (q @ k.transpose(-2, -1)) / math.sqrt(self.d)
        attn = attn.softmax(dim=-1)  # expect: place
        if self.training:
            dropped = torch.rand(b, 1, n, n) < self.drop
            attn.masked_fill_(dropped, 0.0)  # expect: place
        out = (attn @ v).transpose(1, 2).reshape(b, n, c)
        return self.proj(out)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = ReefAttention(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class BleachingModel(nn.Module):
    def __init__(self, n_feat, dim=16, depth=2):
        super().__init__()
        self.embed = nn.Linear(n_feat, dim)
        self.blocks = nn.ModuleList([Block(dim) for _ in range(depth)])
        self.head = nn.Linear(dim, 1)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(dim=1)).squeeze(-1)


def train():
    torch.manual_seed(21)
    x = torch.randn(64, 9, 5)
    y = (x[..., 0].max(dim=1).values > 1.5).float()
    model = BleachingModel(5)
    optimizer = optim.AdamW(model.parameters(), lr=2e-3)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(3):
        model.train()
        for i in range(0, len(x), 16):
            optimizer.zero_grad()
            loss = criterion(model(x[i:i + 16]), y[i:i + 16])
            loss.backward()  # expect: place
            optimizer.step()
        model.eval()
        with torch.no_grad():
            acc = ((model(x) > 0) == y.bool()).float().mean()
        print(epoch, loss.item(), acc.item())


if __name__ == "__main__":
    train()
