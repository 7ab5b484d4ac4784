# expect: pattern = none
# expect: raises = nothing
"""Rain at stations, day by day: a graph GRU reads the season in pieces and carries its state on."""
from dataclasses import dataclass
from typing import Iterator

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass(frozen=True)
class Setup:
    stations: int = 8
    width: int = 12
    piece: int = 10
    epochs: int = 4
    lr: float = 5e-3


class GraphCell(nn.Module):
    def __init__(self, n_in, width, links):
        super().__init__()
        self.register_buffer("links", links / links.sum(1, keepdim=True))
        self.cell = nn.GRUCell(n_in + width, width)

    def forward(self, rain, state):
        heard = self.links @ state
        return self.cell(torch.cat([rain, heard], dim=1), state)


class Forecaster(nn.Module):
    def __init__(self, setup, links):
        super().__init__()
        self.cell = GraphCell(1, setup.width, links)
        self.start = nn.Parameter(torch.zeros(setup.stations, setup.width))
        self.head = nn.Linear(setup.width, 1)
        self.state = None

    def new_season(self):
        self.state = None

    def let_go(self):
        self.state = self.state.detach()

    def forward(self, rain):
        state = self.start if self.state is None else self.state
        out = []
        for day in rain:
            state = self.cell(day, state)
            out.append(self.head(state))
        self.state = state
        return torch.stack(out)


def pieces(season: torch.Tensor, length: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    for start in range(0, len(season) - 1, length):
        rain = season[start : start + length + 1]
        yield rain[:-1], rain[1:]


def make_season(setup, days, links, generator):
    rain = [torch.rand(setup.stations, 1, generator=generator)]
    for _ in range(days - 1):
        carried = 0.8 * links / links.sum(1, keepdim=True) @ rain[-1]
        rain.append(carried + 0.2 * torch.rand(setup.stations, 1, generator=generator))
    return torch.stack(rain)


def train(setup, model, season, optimizer):
    curve = []
    for epoch in range(setup.epochs):
        model.new_season()
        total = 0.0
        for today, tomorrow in pieces(season, setup.piece):
            loss = F.mse_loss(model(today), tomorrow)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            model.let_go()
            total += loss.item()
        curve.append(total)
        print(f"epoch {epoch}: {total:.4f}")
    return curve


if __name__ == "__main__":
    torch.manual_seed(30)
    setup = Setup()
    generator = torch.Generator().manual_seed(30)
    links = (torch.rand(setup.stations, setup.stations, generator=generator) < 0.4).float()
    links.fill_diagonal_(1.0)
    model = Forecaster(setup, links)
    season = make_season(setup, 61, links, generator)
    train(setup, model, season, torch.optim.Adam(model.parameters(), lr=setup.lr))
