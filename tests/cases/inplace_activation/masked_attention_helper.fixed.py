import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, dropout=0.1):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))
        self.dropout = dropout

    def scores(self, x):
        s = self.q(x) @ self.k(x).transpose(-1, -2)
        return s.softmax(-1)

    def forward(self, x, mask):
        attn = self.scores(x)
        attn = attn.clone()
        attn[~mask.expand_as(attn)] = 0.0
        attn = attn / (attn.sum(-1, keepdim=True) + 1e-6)
        return attn @ self.v(x)


def run(steps=3):
    torch.manual_seed(3)
    layer = Attention(8)
    optim = torch.optim.AdamW(layer.parameters(), lr=1e-3)
    for _ in range(steps):
        x = torch.randn(2, 5, 8)
        mask = torch.ones(1, 5, 5, dtype=torch.bool).tril()[0]
        optim.zero_grad()
        layer(x, mask).pow(2).mean().backward()
        optim.step()


run()
