"""Learn the stiffness of a rigging from pictures of how its ropes come to rest.

The layer looks for the rest position by iteration and is differentiated implicitly, by a second
iteration for the adjoint, so that nothing of the way there has to be kept.
"""

from collections.abc import Callable

import torch
from torch import Tensor, autograd, nn

NODES, LOADS = 10, 4


def settle(step: Callable[[Tensor], Tensor], start: Tensor, rounds: int) -> Tensor:
    """Damped fixed point iteration."""
    here = start
    for _ in range(rounds):
        here = 0.2 * here + 0.8 * step(here)
    return here


class Relax(nn.Module):
    """One sweep over the rope: every node gives way to its neighbours and to the load."""

    def __init__(self) -> None:
        super().__init__()
        self.pull = nn.Linear(NODES, NODES, bias=False)
        self.weight = nn.Linear(LOADS, NODES)
        nn.init.normal_(self.pull.weight, std=0.15)

    def forward(self, shape: Tensor, load: Tensor) -> Tensor:
        return torch.tanh(self.pull(shape) + self.weight(load))


class RestLayer(nn.Module):
    def __init__(self, sweep: nn.Module, rounds: int = 30) -> None:
        super().__init__()
        self.sweep = sweep
        self.rounds = rounds

    def forward(self, load: Tensor) -> Tensor:
        with torch.no_grad():
            start = torch.zeros(len(load), NODES)
            rest = settle(lambda shape: self.sweep(shape, load), start, self.rounds)
        rest = self.sweep(rest, load)
        if not rest.requires_grad:
            return rest

        anchor = rest.detach().requires_grad_()
        response = self.sweep(anchor, load)

        def adjoint(grad: Tensor) -> Tensor:
            once = autograd.grad(response, anchor, grad)[0] + grad

            def swing(back: Tensor) -> Tensor:
                return autograd.grad(response, anchor, back)[0] + grad

            return settle(lambda _: once, grad, self.rounds)

        rest.register_hook(adjoint)
        return rest


def photographs(count: int) -> tuple[Tensor, Tensor]:
    load = torch.randn(count, LOADS)
    sag = torch.tanh(load @ torch.randn(LOADS, 3))
    return load, sag + 0.02 * torch.randn(count, 3)


def main() -> None:
    torch.manual_seed(8)
    model = nn.Sequential(RestLayer(Relax()), nn.Linear(NODES, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    load, sag = photographs(48)

    for sweep in range(6):
        order = torch.randperm(len(load))
        for rows in order.split(24):
            misfit = (model(load[rows]) - sag[rows]).pow(2).mean()
            optimizer.zero_grad()
            misfit.backward()
            optimizer.step()
        with torch.no_grad():
            print(sweep, (model(load) - sag).pow(2).mean().item())


if __name__ == "__main__":
    main()
