"""Steady-state room temperatures as an implicit layer.

The rooms of a building exchange heat until nothing changes any more. The layer looks for that
fixed point without recording the search, and gets its gradient from the implicit function theorem.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, autograd, nn


def picard(step, start: Tensor, rounds: int, tolerance: float = 1e-6) -> Tensor:
    """Iterates `step` until it moves by less than `tolerance`, or `rounds` are over."""
    current = start
    for _ in range(rounds):
        following = step(current)
        if (following - current).abs().max() < tolerance:
            return following
        current = following
    return current


class Exchange(nn.Module):
    """One sweep of heat exchange between the rooms, given what comes from outside."""

    def __init__(self, rooms: int, sensors: int) -> None:
        super().__init__()
        self.coupling = nn.Parameter(0.35 * torch.randn(rooms, rooms) / rooms**0.5)
        self.outside = nn.Linear(sensors, rooms)

    def forward(self, temperatures: Tensor, sensors: Tensor) -> Tensor:
        return torch.tanh(temperatures @ self.coupling + self.outside(sensors))


class SteadyState(nn.Module):
    def __init__(self, sweep: nn.Module, rooms: int, rounds: int = 40) -> None:
        super().__init__()
        self.sweep = sweep
        self.rooms = rooms
        self.rounds = rounds

    def forward(self, sensors: Tensor) -> Tensor:
        start = sensors.new_zeros(len(sensors), self.rooms)
        with torch.no_grad():
            rest = picard(lambda z: self.sweep(z, sensors), start, self.rounds)
        settled = self.sweep(rest, sensors)
        if not self.training:
            return settled

        # one more sweep, from a leaf: its vector-Jacobian products drive the adjoint equation
        anchor = settled.detach().clone().requires_grad_()
        again = self.sweep(anchor, sensors)

        def adjoint(upstream: Tensor) -> Tensor:
            def refine(guess: Tensor) -> Tensor:
                (product,) = autograd.grad(again, anchor, guess)
                return product + upstream

            return picard(refine, upstream, self.rounds)

        return settled


class ComfortModel(nn.Module):
    def __init__(self, rooms: int, sensors: int) -> None:
        super().__init__()
        self.steady = SteadyState(Exchange(rooms, sensors), rooms)
        self.comfort = nn.Linear(rooms, 1)

    def forward(self, sensors: Tensor) -> Tensor:
        return self.comfort(self.steady(sensors)).squeeze(-1)


def main() -> None:
    torch.manual_seed(2)
    readings = torch.randn(64, 5)
    votes = torch.sin(readings[:, 0]) + 0.3 * readings[:, 1] * readings[:, 2]
    model = ComfortModel(rooms=10, sensors=5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(4):
        model.train()
        for batch, target in zip(readings.split(16), votes.split(16)):
            loss = F.mse_loss(model(batch), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            print(epoch, F.mse_loss(model(readings), votes).item())


if __name__ == "__main__":
    main()
