"""Acidity of sourdough from gas sensors, one endless stream a jar, learned in windows as it comes.

The state of every jar lives on between windows; a validation pass borrows and gives back.
"""
import contextlib

import torch
from torch import nn

JARS, WINDOW = 8, 16


def brew(steps, gen):
    food = torch.ones(JARS)
    acid = torch.zeros(JARS)
    gas, sour = [], []
    for step in range(steps):
        if step % 48 == 0:
            food, acid = torch.ones(JARS), 0.3 * acid
        eaten = 0.06 * food * (0.5 + torch.rand(JARS, generator=gen))
        food, acid = food - eaten, acid + eaten
        gas.append(torch.stack([eaten * 10, 0.1 * torch.randn(JARS, generator=gen)], 1))
        sour.append(acid.clone())
    return torch.stack(gas), torch.stack(sour)


class JarCell(nn.Module):
    def __init__(self, size=20):
        super().__init__()
        self.cell = nn.GRUCell(2, size)
        self.read = nn.Linear(size, 1)
        self.hidden = None
        self.size = size

    def reset(self):
        self.hidden = None

    def forward(self, gas):
        h = torch.zeros(gas.shape[1], self.size) if self.hidden is None else self.hidden.detach()
        out = []
        for now in gas:
            h = self.cell(now, h)
            out.append(self.read(h).squeeze(1))
        self.hidden = h
        return torch.stack(out)

    @contextlib.contextmanager
    def borrowed(self):
        kept, self.hidden = self.hidden, None
        try:
            yield
        finally:
            self.hidden = kept


def validate(net, gas, sour):
    with net.borrowed(), torch.no_grad():
        parts = [net(chunk) for chunk in gas.split(WINDOW)]
    return (torch.cat(parts) - sour).abs().mean().item()


def main():
    torch.manual_seed(3)
    gen = torch.Generator().manual_seed(3)
    stream, check = brew(480, gen), brew(96, gen)
    net = JarCell()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    worst = []
    for lap in range(3):
        net.reset()
        for number, (gas, sour) in enumerate(zip(*(part.split(WINDOW) for part in stream))):
            loss = nn.functional.mse_loss(net(gas), sour)
            opt.zero_grad()
            loss.backward()
            opt.step()
            worst.append(loss.detach())
            if number % 15 == 14:
                print(f"lap {lap} window {number}: {validate(net, *check):.4f}")
    print("worst window", torch.stack(worst[30:]).max().item())


if __name__ == "__main__":
    main()
