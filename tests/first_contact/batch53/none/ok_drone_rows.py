# expect: pattern = none
# expect: raises = nothing
# Yield estimate along the flight rows of a drone. The row memory (LSTM) survives from
# strip to strip; strips of one row are accumulated over two before an optimizer step.
import torch
import torch.nn as nn


def detach_all(s):
    if isinstance(s, torch.Tensor):
        return s.detach()
    return type(s)(detach_all(v) for v in s)


class RowNet(nn.Module):
    def __init__(self, bands, hidden):
        super().__init__()
        self.spec = nn.Linear(bands, hidden)
        self.cell = nn.LSTM(hidden, hidden, batch_first=True)
        self.dry = nn.Parameter(torch.zeros(1))
        self.head = nn.Linear(hidden, 1)

    def forward(self, strip, memory):
        z = torch.relu(self.spec(strip))
        out, memory = self.cell(z, memory)
        return self.head(out).squeeze(-1) + self.dry * strip[..., 0], memory


def field(rows, length, bands, gen):
    refl = torch.rand(rows, length, bands, generator=gen)
    ndvi = (refl[..., 3] - refl[..., 2]) / (refl[..., 3] + refl[..., 2] + 0.1)
    smooth = torch.stack([ndvi[:, max(0, t - 3): t + 1].mean(1) for t in range(length)], 1)
    return refl, smooth - 0.2 * refl[..., 0]


def train():
    torch.manual_seed(6)
    gen = torch.Generator().manual_seed(6)
    net = RowNet(bands=4, hidden=16)
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    every = 2
    for season in range(8):
        refl, target = field(6, 40, 4, gen)
        memory, seen, total = None, 0, 0.0
        opt.zero_grad()
        for strip, y in zip(refl.split(10, dim=1), target.split(10, dim=1)):
            pred, memory = net(strip, memory)
            loss = (pred - y).pow(2).mean()
            (loss / every).backward()
            memory = detach_all(memory)
            total += loss.detach()
            seen += 1
            if seen % every == 0:
                nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                opt.step()
                opt.zero_grad()
        print("season %d  mse %.4f" % (season, total / seen))


if __name__ == "__main__":
    train()
