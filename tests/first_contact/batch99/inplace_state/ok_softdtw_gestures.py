# expect: raises = nothing
"""Averages of gestures by soft-DTW: a prototype for each, fitted to strokes of different tempo."""
import torch
import torch.nn as nn

GAMMA = 0.1
KINDS, LENGTH = 3, 10


def stroke(kind, n, gen):
    tempo = 0.7 + 0.6 * torch.rand(n, 1, generator=gen)
    t = torch.linspace(0, 1, LENGTH) ** tempo
    x = torch.cos((kind + 1) * 2.0 * t)
    y = torch.sin((3 - kind) * 2.0 * t)
    return torch.stack([x, y], -1) + 0.05 * torch.randn(n, LENGTH, 2, generator=gen)


def soft_dtw(a, b):
    """(batch, n, 2) and (batch, m, 2) to (batch,): the table is filled cell by cell."""
    cost = (a.unsqueeze(2) - b.unsqueeze(1)).pow(2).sum(-1)
    batch, n, m = cost.shape
    table = torch.full((batch, n + 1, m + 1), 1e4)
    table[:, 0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            ways = torch.stack([table[:, i - 1, j - 1], table[:, i - 1, j], table[:, i, j - 1]], -1)
            table[:, i, j] = cost[:, i - 1, j - 1] - GAMMA * torch.logsumexp(-ways / GAMMA, -1)
    return table[:, n, m]


class Prototypes(nn.Module):
    def __init__(self):
        super().__init__()
        self.points = nn.Parameter(0.3 * torch.randn(KINDS, LENGTH, 2))

    def forward(self, kind):
        return self.points[kind]


def nearest(protos, x):
    with torch.no_grad():
        d = torch.stack([soft_dtw(protos(torch.full((len(x),), k)), x) for k in range(KINDS)], 1)
    return d.argmin(1)


def main():
    torch.manual_seed(21)
    gen = torch.Generator().manual_seed(21)
    x = torch.cat([stroke(k, 12, gen) for k in range(KINDS)])
    kind = torch.arange(KINDS).repeat_interleave(12)
    protos = Prototypes()
    opt = torch.optim.Adam(protos.parameters(), lr=0.1)
    for epoch in range(6):
        total = 0.0
        for idx in torch.randperm(len(x), generator=gen).split(18):
            loss = soft_dtw(protos(kind[idx]), x[idx]).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        print(f"epoch {epoch}: {total / len(x):.3f}, right {(nearest(protos, x) == kind).float().mean().item():.2f}")


if __name__ == "__main__":
    main()
