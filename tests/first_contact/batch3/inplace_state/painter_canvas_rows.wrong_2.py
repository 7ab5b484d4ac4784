"""Soft dynamic time warping between a generated curve and a reference."""
import torch
import torch.nn as nn


def softmin(values, gamma):
    return -gamma * torch.logsumexp(-torch.stack(values) / gamma, 0)


class SoftDTW(nn.Module):
    def __init__(self, gamma=0.1, big=1e4):
        super().__init__()
        self.gamma, self.big = gamma, big

    def forward(self, a, b):
        cost = (a[:, None] - b[None]).pow(2).sum(-1)
        n, m = cost.shape
        big = torch.tensor(self.big)
        above = [torch.zeros(())] + [big] * m
        for i in range(n):
            row = [big]
            for j in range(m):
                row.append(cost[i, j] + softmin([above[j], above[j + 1], row[j]], self.gamma))
            above = row
        return above[m] / (n + m)


class Painter(nn.Module):
    """Draws a curve from a latent by rolling a small cell out."""

    def __init__(self, latent=3, hidden=16, length=8):
        super().__init__()
        self.length = length
        self.start = nn.Linear(latent, hidden)
        self.cell = nn.GRUCell(2, hidden)
        self.pen = nn.Linear(hidden, 2)

    def forward(self, z):
        h = torch.tanh(self.start(z))[None]
        canvas = torch.zeros(self.length, 2)
        for t in range(1, self.length):
            h = self.cell(canvas[t - 1][None], h)
            canvas.data[t] = canvas[t - 1] + self.pen(h)[0]
        return canvas + 0.0 * h.sum()


def targets():
    s = torch.linspace(0, 1, 10)
    yield "arc", torch.stack([s, s * (1 - s)], 1)
    yield "line", torch.stack([s, -s], 1)


def main():
    torch.manual_seed(15)
    painter, criterion = Painter(), SoftDTW()
    latents = nn.ParameterDict({name: nn.Parameter(torch.randn(3)) for name, _ in targets()})
    opt = torch.optim.Adam([*painter.parameters(), *latents.parameters()], lr=1e-2)
    for epoch in range(3):
        for name, curve in targets():
            loss = criterion(painter(latents[name]), curve)
            opt.zero_grad()
            loss.backward()
            opt.step()
            print(epoch, name, "%.4f" % loss.item())


if __name__ == "__main__":
    main()
