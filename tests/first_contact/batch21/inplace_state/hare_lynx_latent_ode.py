# expect: pattern = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = path, y
"""Neural ODE for hare and lynx counts with a solver of our own: any explicit Butcher tableau."""
from typing import Callable, NamedTuple, Sequence

import torch
from torch import Tensor, nn


class Tableau(NamedTuple):
    a: Sequence[Sequence[float]]
    b: Sequence[float]
    c: Sequence[float]


HEUN3 = Tableau(a=((), (1 / 3,), (0.0, 2 / 3)), b=(1 / 4, 0.0, 3 / 4), c=(0.0, 1 / 3, 2 / 3))
RALSTON = Tableau(a=((), (2 / 3,)), b=(1 / 4, 3 / 4), c=(0.0, 2 / 3))


class ExplicitSolver:
    def __init__(self, tableau: Tableau, substeps: int = 2) -> None:
        self.tableau, self.substeps = tableau, substeps

    def step(self, f: Callable[[float, Tensor], Tensor], t: float, h: float, y: Tensor) -> Tensor:
        slopes: list[Tensor] = []
        for row, c in zip(self.tableau.a, self.tableau.c):
            inner = y
            for weight, k in zip(row, slopes):
                if weight:
                    inner = inner + h * weight * k
            slopes.append(f(t + c * h, inner))
        return y + h * sum(b * k for b, k in zip(self.tableau.b, slopes))

    def solve(self, f: Callable[[float, Tensor], Tensor], y0: Tensor, times: Tensor) -> Tensor:
        path = y0.new_zeros(len(times), *y0.shape)  # expect: place
        path[0] = y0  # expect: place
        for i in range(len(times) - 1):
            t, h = times[i].item(), (times[i + 1] - times[i]).item() / self.substeps
            y = path[i]  # expect: place
            for s in range(self.substeps):
                y = self.step(f, t + s * h, h, y)
            path[i + 1] = y  # expect: place
        return path


class Field(nn.Module):
    def __init__(self, dim: int, width: int = 24) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim + 2, width), nn.Tanh(), nn.Linear(width, dim))
        self.evaluations = 0

    def forward(self, t: float, y: Tensor) -> Tensor:
        self.evaluations += 1
        season = y.new_tensor([t, t * t]).expand(*y.shape[:-1], 2)
        return self.net(torch.cat((y, season), dim=-1))


class LatentODE(nn.Module):
    def __init__(self, observed: int, latent: int, solver: ExplicitSolver) -> None:
        super().__init__()
        self.solver = solver
        self.recognise = nn.GRU(observed, 16, batch_first=True)
        self.start = nn.Linear(16, latent)
        self.grow = nn.Linear(latent, latent, bias=False)
        self.field = Field(latent)
        self.read = nn.Linear(latent, observed)

    def dynamics(self, t: float, z: Tensor) -> Tensor:
        return self.field(t, z) + z * torch.sigmoid(self.grow(z))

    def forward(self, counts: Tensor, times: Tensor) -> Tensor:
        _, h = self.recognise(counts[:, :6].flip(1))
        z = self.solver.solve(self.dynamics, self.start(h[-1]), times)
        return self.read(z).transpose(0, 1)


def valleys(n: int, times: Tensor) -> Tensor:
    phase = 6.28 * torch.rand(n, 1)
    hare = torch.sin(4 * times + phase)
    lynx = 0.7 * torch.sin(4 * times + phase - 0.9)
    return torch.stack((hare, lynx), -1) + 0.05 * torch.randn(n, len(times), 2)


def main() -> None:
    torch.manual_seed(1900)
    times = torch.linspace(0, 1.5, 12)
    counts = valleys(24, times)
    model = LatentODE(observed=2, latent=4, solver=ExplicitSolver(HEUN3))
    opt = torch.optim.Adamax(model.parameters(), lr=1e-2)
    for epoch in range(10):
        loss = (model(counts, times) - counts).abs().mean()
        opt.zero_grad()
        loss.backward()  # expect: place
        opt.step()
        if epoch % 3 == 0:
            print(f"epoch {epoch}: {loss.item():.4f} ({model.field.evaluations} evaluations)")


if __name__ == "__main__":
    main()
