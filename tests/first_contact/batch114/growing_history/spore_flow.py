# expect: pattern = growing-history
# expect: also = accumulated-loss
# expect: raises = nothing
# expect: carrier = value
"""A generative flow over mould colonies on a strip of cells.

The sampler lays one spore after another; trajectory balance makes it propose colonies in
proportion to their score. Two running averages are watched: short and long trajectories.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

CELLS = 8


@dataclass
class Smoothed:
    """Bias-corrected exponential average."""

    rate: float = 0.1
    value: Tensor = field(default_factory=lambda: torch.zeros(()))
    count: int = 0

    def push(self, observation: Tensor) -> None:
        self.value = (1 - self.rate) * self.value + self.rate * observation  # expect: place
        self.count += 1

    def read(self) -> float:
        return self.value.item() / (1 - (1 - self.rate) ** max(1, self.count))


@dataclass
class Watch:
    short: Smoothed = field(default_factory=Smoothed)
    long: Smoothed = field(default_factory=Smoothed)

    def note(self, losses: Tensor, lengths: Tensor) -> None:
        is_long = lengths > CELLS // 2
        if is_long.any():
            self.long.push(losses[is_long].mean())  # expect: place
        if (~is_long).any():
            self.short.push(losses[~is_long].mean())  # expect: place

    def line(self) -> str:
        return f"short {self.short.read():.3f}  long {self.long.read():.3f}"


class Sampler(nn.Module):
    """Scores of all moves: lay a spore on one of the cells, or stop."""

    def __init__(self, hidden: int = 32) -> None:
        super().__init__()
        self.moves = nn.Sequential(nn.Linear(CELLS, hidden), nn.ReLU(), nn.Linear(hidden, CELLS + 1))
        self.log_z = nn.Parameter(torch.zeros(()))

    def rollout(self, count: int) -> tuple[Tensor, Tensor, Tensor]:
        colony = torch.zeros(count, CELLS)
        log_forward = torch.zeros(count)
        running = torch.ones(count, dtype=torch.bool)
        for _ in range(CELLS + 1):
            taken = torch.cat([colony.bool(), torch.zeros(count, 1, dtype=torch.bool)], dim=1)
            scores = self.moves(colony).masked_fill(taken, -1e9).log_softmax(dim=1)
            move = torch.multinomial(scores.detach().exp(), 1).squeeze(1)
            chosen = scores.gather(1, move.unsqueeze(1)).squeeze(1)
            log_forward = log_forward + torch.where(running, chosen, torch.zeros_like(chosen))
            running = running & (move != CELLS)
            step = nn.functional.one_hot(move, CELLS + 1)[:, :CELLS].float()
            colony = colony + step * running.unsqueeze(1)
        return colony, log_forward, colony.sum(dim=1)


def log_score(colony: Tensor) -> Tensor:
    """Neighbours like each other, but crowds starve."""
    pairs = (colony[:, 1:] * colony[:, :-1]).sum(dim=1)
    return 0.8 * pairs - 0.15 * colony.sum(dim=1) ** 1.5


def main() -> None:
    torch.manual_seed(14)
    sampler = Sampler()
    optimizer = torch.optim.Adam(
        [
            {"params": sampler.moves.parameters(), "lr": 3e-3},
            {"params": [sampler.log_z], "lr": 5e-2},
        ]
    )
    watch = Watch()
    for iteration in range(60):
        colony, log_forward, length = sampler.rollout(16)
        log_backward = -torch.lgamma(length + 1)
        losses = (sampler.log_z + log_forward - log_score(colony) - log_backward).square()
        optimizer.zero_grad()
        losses.mean().backward()
        optimizer.step()
        watch.note(losses, length)  # expect: place
        if iteration % 20 == 19:
            print(iteration + 1, watch.line(), f"log Z {sampler.log_z.item():.3f}")


if __name__ == "__main__":
    main()
