"""A plucked string on a felt bed, by a network u(x, t):  u_tt = c^2 u_xx - k u - d u_t.

The two halves of the loss (the equation inside, the pluck and the pins at the edges) differ
by orders of magnitude, so the weight of the edges follows the ratio of their gradients.
"""

from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass(frozen=True)
class Setup:
    speed: float = 1.2
    bed: float = 0.8
    damping: float = 0.1
    inside: int = 96
    edge: int = 48
    steps: int = 25
    lr: float = 3e-3
    inertia: float = 0.9
    sizes: tuple[int, ...] = field(default=(2, 20, 20, 1))


def build(sizes: tuple[int, ...]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for fan_in, fan_out in zip(sizes[:-1], sizes[1:], strict=True):
        layers += [nn.Linear(fan_in, fan_out), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def slope(u: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
    (d,) = torch.autograd.grad(u, at, torch.ones_like(u), create_graph=True)
    return d


def equation(net: nn.Module, xt: torch.Tensor, setup: Setup) -> torch.Tensor:
    x, t = (column.clone().requires_grad_() for column in xt.split(1, dim=1))
    u = net(torch.cat([x, t], dim=1))
    u_t = slope(u, t)
    u_tt, u_xx = slope(u_t, t), slope(slope(u, x), x)
    rest = u_tt - setup.speed**2 * u_xx + setup.bed * u + setup.damping * u_t
    return rest.square().mean()


def edges(net: nn.Module, s: torch.Tensor) -> torch.Tensor:
    zero = torch.zeros_like(s)
    pluck = torch.minimum(s / 0.3, (1 - s) / 0.7) * 0.1
    start = net(torch.cat([s, zero], dim=1)) - pluck
    left = net(torch.cat([zero, s], dim=1))
    right = net(torch.cat([zero + 1, s], dim=1))
    return start.square().mean() + left.square().mean() + right.square().mean()


class Balance:
    """Keeps the edge term's gradients about as large as the equation's."""

    def __init__(self, params: list[nn.Parameter], inertia: float) -> None:
        self.params = params
        self.inertia = inertia
        self.weight = torch.tensor(1.0)

    def backward(self, inner: torch.Tensor, outer: torch.Tensor) -> None:
        of_inner = torch.autograd.grad(inner, self.params)
        of_outer = torch.autograd.grad(outer, self.params)
        peak = max(g.abs().max() for g in of_inner)
        typical = torch.cat([g.flatten() for g in of_outer]).abs().mean()
        self.weight = self.inertia * self.weight + (1 - self.inertia) * peak / typical
        for p, g, h in zip(self.params, of_inner, of_outer, strict=True):
            p.grad = g + self.weight * h


def train(setup: Setup) -> nn.Module:
    net = build(setup.sizes)
    params = list(net.parameters())
    optimizer = torch.optim.Adam(params, lr=setup.lr)
    balance = Balance(params, setup.inertia)
    for step in range(setup.steps):
        inner = equation(net, torch.rand(setup.inside, 2), setup)
        outer = edges(net, torch.rand(setup.edge, 1))
        balance.backward(inner, outer)
        optimizer.step()
        if step % 5 == 0:
            print(f"{step:3d}  equation {inner.item():.2e}  edges {outer.item():.2e}")
    return net


if __name__ == "__main__":
    torch.manual_seed(21)
    string = train(Setup())
    with torch.no_grad():
        middle = string(torch.tensor([[0.5, 0.0], [0.5, 0.5]]))
    print("middle of the string at t = 0 and 0.5:", middle.flatten().tolist())
