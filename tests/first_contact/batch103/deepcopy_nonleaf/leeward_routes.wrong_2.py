"""Learning to read a barograph: from the pressure of the last days to the wind that a yacht will meet.

No wind is ever observed. What is known is when boats of known polars arrived, each having taken the
best of its tacking plans; the soft minimum over plans makes that differentiable.
"""
import copy
import math
from dataclasses import dataclass, field

import torch
from torch import nn

LEGS = 4
HEADINGS = [math.radians(a) for a in (-50, 0, 50)]


@dataclass
class Crew:
    """A boat under way, and the tacks it has made."""

    at: torch.Tensor
    drift: torch.Tensor
    hours: float = 0.0
    tacks: list = field(default_factory=list)

    def sail(self, heading, wind, polar, span=1.5):
        angle = torch.atan2(wind[1], wind[0]) - heading
        speed = wind.norm() * polar * (0.25 + 0.75 * torch.sin(angle / 2).abs())
        course = torch.tensor([math.cos(heading), math.sin(heading)])
        self.drift = 0.7 * self.drift + 0.05 * wind
        self.at = self.at + span * (speed * course + self.drift)
        self.hours += span
        self.tacks.append(round(math.degrees(heading)))


def plans(start, winds, polar, mark, keep=5):
    """Beam search over headings: the crews that are nearest to the mark after the last leg."""
    branches = [Crew(start.clone(), torch.zeros(2))]
    for wind in winds:
        fleet = []
        for crew in branches:
            for heading in HEADINGS:
                other = crew
                other.sail(heading, wind, polar)
                fleet.append(other)
        fleet.sort(key=lambda c: (c.at - mark).norm().item())
        branches = fleet[:keep]
    return branches


def left_to_go(branches, mark, sharp=4.0):
    """Distance to the mark by the best plan, softly."""
    gaps = torch.stack([(crew.at - mark).norm() for crew in branches])
    return -torch.logsumexp(-sharp * gaps, 0) / sharp


class Barograph(nn.Module):
    """Thirty-six pressures in, one wind vector a leg out."""

    def __init__(self, hidden=12):
        super().__init__()
        self.read = nn.GRU(1, hidden, batch_first=True)
        self.wind = nn.Linear(hidden, 2 * LEGS)

    def forward(self, pressure):
        _, last = self.read(pressure[None, :, None])
        return self.wind(last[0, 0]).view(LEGS, 2) + torch.tensor([-2.0, 0.0])


def passage(gen):
    """A trough passes: the wind backs and freshens by how steeply the pressure falls."""
    t = torch.linspace(0, 1, 36)
    depth, when = torch.rand(2, generator=gen).tolist()
    pressure = -depth * torch.sigmoid(12 * (t - 0.2 - 0.6 * when))
    legs = torch.linspace(0, 1, LEGS)
    turn = 1.2 * depth * torch.sigmoid(8 * (legs - when))
    strength = 1.5 + 1.5 * depth * legs
    winds = -strength[:, None] * torch.stack([torch.cos(turn), torch.sin(turn)], 1)
    return pressure + 0.01 * torch.randn(36, generator=gen), winds


def logbook(size, gen, mark):
    book = []
    with torch.no_grad():
        for _ in range(size):
            pressure, winds = passage(gen)
            polar = 0.4 + 0.3 * torch.rand(1, generator=gen).item()
            gap = left_to_go(plans(torch.zeros(2), winds, polar, mark), mark)
            book.append((pressure, polar, gap))
    return book


def main():
    torch.manual_seed(23)
    gen = torch.Generator().manual_seed(23)
    mark = torch.tensor([9.0, 1.0])
    book, unseen = logbook(24, gen, mark), logbook(12, gen, mark)
    model = Barograph()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    def misfit(entries):
        gaps = [left_to_go(plans(torch.zeros(2), model(p), polar, mark), mark) - g
                for p, polar, g in entries]
        return torch.stack(gaps).square().mean()

    for epoch in range(4):
        for i in range(0, len(book), 6):
            optimizer.zero_grad()
            loss = misfit(book[i:i + 6])
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            print(f"epoch {epoch} last batch {loss.item():.3f} unseen {misfit(unseen).item():.3f}")
    best = plans(torch.zeros(2), model(unseen[0][0]), unseen[0][1], mark)[0]
    print("tacks of the first unseen passage:", best.tacks, f"{best.hours} h")


if __name__ == "__main__":
    main()
