"""Choose the next drill collars on a lease from the assays of the holes drilled so far.

Two stages: fit a kriging model to the assays, then slide a handful of candidate collars
over the lease until the optimistic grade under them is as high as it gets.
"""

import math
import torch
from torch import nn

torch.set_default_dtype(torch.float64)

LEASE = 4.0  # side of the square lease, in units of 100 m


def campaign(holes: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Collars and log grades of a made-up campaign with one rich shoot in the north-east."""
    gen = torch.Generator().manual_seed(seed)
    collars = torch.rand(holes, 2, generator=gen) * LEASE
    shoot = torch.exp(-(collars - torch.tensor([2.9, 3.1])).square().sum(1))
    trend = 0.3 * torch.sin(1.7 * collars[:, 0])
    noise = 0.05 * torch.randn(holes, generator=gen)
    grades = 2.0 * shoot + trend + noise
    return collars, grades - grades.mean()


class Kriging(nn.Module):
    def __init__(self, collars: torch.Tensor, grades: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("collars", collars)
        self.register_buffer("grades", grades)
        self.log_range = nn.Parameter(torch.zeros(2))
        self.log_sill = nn.Parameter(torch.zeros(()))
        self.log_nugget = nn.Parameter(torch.tensor(-2.0))

    def covariance(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        lag = (a[:, None, :] - b[None, :, :]) / self.log_range.exp()
        return self.log_sill.exp() * torch.exp(-0.5 * lag.square().sum(-1))

    def factor(self) -> torch.Tensor:
        between = self.covariance(self.collars, self.collars)
        nugget = self.log_nugget.exp() + 1e-4
        return torch.linalg.cholesky(between + nugget * torch.eye(len(between)))

    def nll(self) -> torch.Tensor:
        chol = self.factor()
        white = torch.linalg.solve_triangular(chol, self.grades[:, None], upper=False)
        constant = 0.5 * len(self.grades) * math.log(2 * math.pi)
        return 0.5 * white.square().sum() + chol.diagonal().log().sum() + constant

    @property
    def chol(self) -> torch.Tensor:
        return self.factor()

    @property
    def weights(self) -> torch.Tensor:
        return torch.cholesky_solve(self.grades[:, None], self.chol)[:, 0]

    def predict(self, sites: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        cross = self.covariance(self.collars, sites)
        mean = cross.T @ self.weights
        seen = torch.linalg.solve_triangular(self.chol, cross, upper=False)
        left = self.log_sill.exp() - seen.square().sum(0)
        return mean, left.clamp(min=1e-6).sqrt()


def fit(model: Kriging, rounds: int = 40) -> float:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(rounds):
        optimizer.zero_grad()
        nll = model.nll()
        nll.backward()
        optimizer.step()
    return nll.item()


def place(model: Kriging, count: int, rounds: int = 30, optimism: float = 1.5) -> torch.Tensor:
    sites = (torch.rand(count, 2) * LEASE).requires_grad_()
    optimizer = torch.optim.Adam([sites], lr=0.05)
    for number in range(rounds):
        optimizer.zero_grad()
        mean, spread = model.predict(sites)
        hope = (mean + optimism * spread).sum()
        (-hope).backward()
        optimizer.step()
        with torch.no_grad():
            sites.clamp_(0.0, LEASE)
        if number % 10 == 0:
            print(f"round {number:2d}  hope {hope.item():.3f}")
    return sites.detach()


def main() -> None:
    torch.manual_seed(11)
    collars, grades = campaign(holes=24, seed=5)
    model = Kriging(collars, grades)
    print(f"nll after fitting {fit(model):.3f}")
    for east, north in place(model, count=4).tolist():
        print(f"drill at {100 * east:.0f} E, {100 * north:.0f} N")


if __name__ == "__main__":
    main()
