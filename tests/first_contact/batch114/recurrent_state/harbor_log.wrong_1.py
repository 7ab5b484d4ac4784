"""Predict berthing delays from a stream of ship/berth meetings.

Every ship and every berth owns a state vector that is rewritten after each meeting it takes part
in. The stream is cut into chunks; a chunk reads the states as they were left by the chunk before.
"""

import torch
import torch.nn as nn
from torch import Tensor


class StateTable:
    """State vectors by entity, zeros for those that were never seen."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.store: dict[str, Tensor] = {}

    def read(self, keys: list[str]) -> Tensor:
        blank = torch.zeros(self.width)
        return torch.stack([self.store.get(key, blank) for key in keys])

    def write(self, keys: list[str], states: Tensor) -> None:
        for key, state in zip(keys, states):
            self.store[key] = state

    def settle(self) -> None:
        """End of a chunk: states go on as plain values."""
        for key, state in self.store.items():
            state = state.detach()


class DelayModel(nn.Module):
    def __init__(self, width: int, features: int) -> None:
        super().__init__()
        self.ship_cell = nn.GRUCell(width + features, width)
        self.berth_cell = nn.GRUCell(width + features, width)
        self.readout = nn.Sequential(nn.Linear(2 * width, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, ships: Tensor, berths: Tensor, weather: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        new_ships = self.ship_cell(torch.cat([berths, weather], dim=1), ships)
        new_berths = self.berth_cell(torch.cat([ships, weather], dim=1), berths)
        delay = self.readout(torch.cat([new_ships, new_berths], dim=1)).squeeze(1)
        return delay, new_ships, new_berths


def meetings(count: int, features: int) -> list[dict]:
    """A made-up season: slow ships stay slow, and wind makes all of them late."""
    slowness = torch.rand(6)
    log = []
    for _ in range(count):
        ship, berth = int(torch.randint(6, ())), int(torch.randint(4, ()))
        weather = torch.rand(features)
        delay = slowness[ship] + 0.5 * weather[0] + 0.1 * berth
        log.append({"ship": f"s{ship}", "berth": f"b{berth}", "weather": weather, "delay": delay})
    return log


def chunks(log: list[dict], size: int):
    for start in range(0, len(log), size):
        part = log[start : start + size]
        yield (
            [event["ship"] for event in part],
            [event["berth"] for event in part],
            torch.stack([event["weather"] for event in part]),
            torch.stack([event["delay"] for event in part]),
        )


def train(seasons: int = 2) -> None:
    torch.manual_seed(4)
    width, features = 8, 3
    log = meetings(60, features)
    model = DelayModel(width, features)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for season in range(seasons):
        table = StateTable(width)
        total = 0.0
        for ships, berths, weather, delay in chunks(log, size=10):
            guess, new_ships, new_berths = model(table.read(ships), table.read(berths), weather)
            loss = nn.functional.smooth_l1_loss(guess, delay)
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()
            table.write(ships, new_ships)
            table.write(berths, new_berths)
            table.settle()
            total += loss.item()
        print(f"season {season}: {total:.3f}")


if __name__ == "__main__":
    train()
