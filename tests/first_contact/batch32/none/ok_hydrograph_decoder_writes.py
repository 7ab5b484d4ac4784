# expect: pattern = none
"""River discharge a day ahead: residual blocks that add in place, masked scores, and a decoder that
writes its forecasts into one tensor made beforehand."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 3, padding=1)
        self.norm = nn.BatchNorm1d(width)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.norm(self.conv(x))
        y += x
        return self.act(y)


class Forecaster(nn.Module):
    def __init__(self, n_in=5, width=16, horizon=8):
        super().__init__()
        self.horizon = horizon
        self.inp = nn.Conv1d(n_in, width, 1)
        self.blocks = nn.Sequential(Block(width), Block(width))
        self.query = nn.Linear(width, width)
        self.cell = nn.GRUCell(width + 1, width)
        self.out = nn.Linear(width, 1)

    def forward(self, forcing, gap):
        memory = self.blocks(self.inp(forcing)).transpose(1, 2)
        b = len(memory)
        h = memory[:, -1]
        last = forcing[:, :1, -1]
        forecast = torch.zeros(b, self.horizon)
        for step in range(self.horizon):
            scores = torch.einsum("bd,btd->bt", self.query(h), memory)
            scores /= memory.shape[-1] ** 0.5
            scores.masked_fill_(gap, float("-inf"))
            context = torch.einsum("bt,btd->bd", scores.softmax(1), memory)
            h = self.cell(torch.cat([context, last], 1), h)
            last = self.out(h)
            forecast[:, step] = last[:, 0]
        return forecast


def river(n, length=24, horizon=8):
    rain = F.relu(torch.randn(n, length + horizon))
    flow = torch.zeros(n, length + horizon)
    for t in range(1, length + horizon):
        flow[:, t] = 0.85 * flow[:, t - 1] + 0.3 * rain[:, t - 1]
    other = torch.randn(n, 3, length)
    forcing = torch.cat([flow[:, None, :length], rain[:, None, :length], other], 1)
    gap = torch.rand(n, length) < 0.1
    return forcing, gap, flow[:, length:]


def main():
    torch.manual_seed(16)
    forcing, gap, target = river(96)
    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    best = float("inf")
    for epoch in range(4):
        running = torch.zeros(())
        for rows in torch.randperm(96).chunk(4):
            optimizer.zero_grad(set_to_none=True)
            loss = F.smooth_l1_loss(model(forcing[rows], gap[rows]), target[rows])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            running += loss.detach()
        best = min(best, running.item())
        print(f"epoch {epoch}: {running / 4:.4f} (best {best / 4:.4f})")


if __name__ == "__main__":
    main()
