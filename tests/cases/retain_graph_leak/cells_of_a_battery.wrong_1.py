"""Charge of a battery from its current, in stretches of a drive: each cell keeps its warmth and its sag."""
import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.take = nn.Linear(width, width)
        self.share = nn.Parameter(torch.tensor(0.3))
        self.cool()

    def cool(self):
        self.warmth, self.sag = None, 0.0

    def forward(self, current):
        if self.warmth is None:
            self.warmth = torch.zeros_like(current)
        given = torch.tanh(self.take(current) + self.warmth - self.sag)
        self.warmth = self.share * given.square() + (1 - self.share) * self.warmth
        self.sag = 0.9 * self.sag + 0.1 * given
        return given


class Pack(nn.Module):
    def __init__(self, width=4, cells=3):
        super().__init__()
        self.cells = nn.ModuleList(Cell(width) for _ in range(cells))
        self.charge = nn.Linear(width, 1)

    def drive(self, currents):
        told = []
        for current in currents:
            for cell in self.cells:
                current = cell(current)
            told.append(self.charge(current))
        return torch.stack(told)


def slopes_along(pack, currents, charges, stretch=5):
    """How much each weight would change the fit, stretch by stretch of one drive."""
    for cell in pack.cells:
        cell.cool()
    for start in range(0, len(currents), stretch):
        part = slice(start, start + stretch)
        pack.zero_grad()
        error = nn.functional.smooth_l1_loss(pack.drive(currents[part]), charges[part])
        error.backward(retain_graph=True)
        for cell in pack.cells:
            cell.warmth = cell.warmth.detach()
        yield error.item(), sum(w.grad.abs().sum().item() for w in pack.parameters())


if __name__ == "__main__":
    torch.manual_seed(31)
    pack = Pack()
    currents = torch.randn(45, 6, 4)
    charges = 1 - currents.mean(-1, keepdim=True).cumsum(0) / 20
    for error, slope in slopes_along(pack, currents, charges):
        print(f"{error:.4f} {slope:.4f}")
