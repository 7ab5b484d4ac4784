"""How fast does road salt creep into concrete? Fits a profile and its diffusivity to drill dust.

The network c(depth, age) is asked to obey c_t = D c_zz at scattered points.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class Scatter:
    """Points in (depth, age), both scaled to 0..1."""

    points: Tensor

    @classmethod
    def draw(cls, count: int) -> "Scatter":
        return cls(torch.rand(count, 2).requires_grad_())

    @property
    def depth(self) -> Tensor:
        return self.points[:, 0:1]

    @property
    def age(self) -> Tensor:
        return self.points[:, 1:2]


def slope(value: Tensor, along: Tensor) -> Tensor:
    return torch.autograd.grad(value.sum(), along, create_graph=True)[0]


class SaltFront(nn.Module):
    def __init__(self, width: int = 20) -> None:
        super().__init__()
        self.profile = nn.Sequential(
            nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )
        self.log_diffusivity = nn.Parameter(torch.tensor(-2.0))

    def forward(self, points: Tensor) -> Tensor:
        return self.profile(points)

    def imbalance(self, where: Scatter) -> Tensor:
        salt = self(where.points)
        c_z, c_t = slope(salt, where.points).split(1, dim=1)
        c_zz = slope(c_z, where.points)[:, 0:1].detach()
        return c_t - self.log_diffusivity.exp() * c_zz


def drill_dust(count: int) -> tuple[Tensor, Tensor]:
    points = torch.rand(count, 2)
    spread = 2 * torch.sqrt(0.08 * points[:, 1:2] + 1e-3)
    salt = torch.special.erfc(points[:, 0:1] / spread)
    return points, salt + 0.01 * torch.randn(count, 1)


def main() -> None:
    torch.manual_seed(19)
    front = SaltFront()
    samples, salt = drill_dust(50)
    surface = torch.cat([torch.zeros(20, 1), torch.linspace(0.05, 1, 20)[:, None]], dim=1)
    optimizer = torch.optim.Adam(front.parameters(), lr=4e-3)
    for step in range(8):
        optimizer.zero_grad()
        physics = front.imbalance(Scatter.draw(80)).pow(2).mean()
        dust = (front(samples) - salt).pow(2).mean()
        brine = (front(surface) - 1.0).pow(2).mean()
        loss = dust + brine + 0.1 * physics
        loss.backward()
        optimizer.step()
        diffusivity = front.log_diffusivity.exp().item()
        print(f"{step}: physics {physics.item():.4f} dust {dust.item():.4f} D {diffusivity:.4f}")


if __name__ == "__main__":
    main()
