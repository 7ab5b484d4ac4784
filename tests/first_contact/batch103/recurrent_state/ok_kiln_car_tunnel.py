"""Firing curve of a tunnel kiln, foretold by a GRU that runs on through the shift.

Windows of one shift follow each other; the hidden state goes along by value. Gradients of two
windows are gathered before a step, since a single window is too noisy.
"""
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Memory:
    hidden: Tensor
    windows: int = 0

    @classmethod
    def cold(cls, batch, width):
        return cls(torch.zeros(1, batch, width))

    def cut(self):
        return replace(self, hidden=self.hidden.detach())


class KilnNet(nn.Module):
    def __init__(self, inputs=3, width=20):
        super().__init__()
        self.gru = nn.GRU(inputs, width)
        self.skip = nn.Linear(inputs, 1)
        self.out = nn.Linear(width, 1)

    def forward(self, x, memory):
        y, hidden = self.gru(x, memory.hidden)
        return (self.out(y) + self.skip(x)).squeeze(-1), Memory(hidden, memory.windows + 1)


def shift(cars, length, gen):
    """Gas, draught and load of each car; its temperature follows with a lag."""
    drive = torch.rand(length // 15 + 1, cars, 3, generator=gen).repeat_interleave(15, 0)[:length]
    temperature, level = [], torch.zeros(cars)
    for gas, draught, load in (row.unbind(1) for row in drive):
        level = level + 0.12 * (2 * gas - draught - 0.5 * load - level)
        temperature.append(level)
    noise = 0.05 * torch.randn(length, cars, 3, generator=gen)
    return drive + noise, torch.stack(temperature)


def run_shift(net, optimizer, x, y, window=20, gather=2):
    memory = Memory.cold(x.shape[1], net.gru.hidden_size)
    losses = []
    optimizer.zero_grad()
    for number, (a, b) in enumerate(zip(x.split(window), y.split(window)), 1):
        guess, memory = net(a, memory.cut())
        loss = nn.functional.mse_loss(guess, b)
        (loss / gather).backward()
        if number % gather == 0:
            optimizer.step()
            optimizer.zero_grad()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def check(net, gen):
    x, y = shift(6, 120, gen)
    guess, _ = net(x, Memory.cold(6, net.gru.hidden_size))
    return (guess - y).square().mean().div(y.var()).item()


if __name__ == "__main__":
    torch.manual_seed(35)
    gen = torch.Generator().manual_seed(35)
    net = KilnNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=8e-3)
    for day in range(12):
        loss = run_shift(net, optimizer, *shift(8, 160, gen))
        if day % 3 == 2:
            print(f"shift {day + 1:2d} loss {loss:.4f} unexplained {check(net, gen):.3f}")
