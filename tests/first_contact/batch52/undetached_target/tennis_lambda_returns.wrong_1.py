



"""Live win probability in tennis: a value network trained on lambda-returns of whole matches."""
import random
from typing import Iterator, NamedTuple

import torch
from torch import nn

LAMBDA = 0.8
FEATURES = 5


class Match(NamedTuple):
    states: torch.Tensor  # (points, features): set, game and point lead, serve, best-of
    winner: float


class WinProbability(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(FEATURES, hidden), nn.ELU(), nn.Linear(hidden, hidden), nn.ELU(), nn.Linear(hidden, 1)
        )

    def forward(self, states):
        return torch.sigmoid(self.layers(states)).squeeze(-1)


def play(rng: random.Random, best_of=3) -> Match:
    strength = rng.gauss(0.5, 0.04)
    sets, games, points, serve = [0, 0], [0, 0], [0, 0], 0
    rows = []
    while max(sets) <= best_of // 2:
        lead = [a - b for a, b in (sets, games, points)]
        rows.append([lead[0], lead[1] / 3, lead[2] / 2, serve * 2 - 1, best_of / 5])
        winner = 0 if rng.random() < strength + (0.1 if serve == 0 else -0.1) else 1
        points[winner] += 1
        if points[winner] >= 3:
            points, serve = [0, 0], 1 - serve
            games[winner] += 1
        if games[winner] >= 3:
            games = [0, 0]
            sets[winner] += 1
    return Match(torch.tensor(rows), float(sets[0] > sets[1]))


def lambda_returns(model: nn.Module, match: Match) -> torch.Tensor:
    """Backwards recursion; the last point's return is the result of the match."""
    values = model(match.states)
    running = torch.tensor(match.winner)
    returns = [running]
    for t in range(len(values) - 1, 0, -1):
        running = (1 - LAMBDA) * values[t] + LAMBDA * running
        returns.append(running)
    return torch.stack(returns[::-1])


def minibatches(states, targets, size, generator) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    for index in torch.randperm(len(states), generator=generator).split(size):
        if len(index) == size:
            yield states[index], targets[index]


@torch.no_grad()
def brier(model, matches):
    errors = [(model(match.states) - match.winner).square() for match in matches]
    return torch.cat(errors).mean().item()


def main():
    torch.manual_seed(8)
    rng = random.Random(8)
    generator = torch.Generator().manual_seed(8)
    model = WinProbability()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-3)

    held_out = [play(rng) for _ in range(20)]
    for iteration in range(5):
        matches = [play(rng) for _ in range(6)]
        states = torch.cat([match.states for match in matches])
        for epoch in range(3):
            for batch, index in minibatches(states, torch.arange(len(states)), 32, generator):
                target = torch.cat([lambda_returns(model, match) for match in matches])[index]
                loss = nn.functional.mse_loss(model(batch), target)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        print(f"iteration {iteration}: {len(states)} points, loss {loss.item():.4f}, brier {brier(model, held_out):.4f}")


if __name__ == "__main__":
    main()
