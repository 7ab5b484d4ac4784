# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = full
"""Ice thickness from surface slope, speed and altitude, by SVRG on top of plain SGD.

At the head of each sweep the gradient over all soundings is taken at a copy of the model;
within the sweep, minibatch gradients are corrected by it to take out most of the noise.
"""

import copy
from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

Pair = tuple[Tensor, Tensor]


def soundings(n: int, seed: int) -> Pair:
    gen = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 3, generator=gen)
    depth = 1.2 - 0.8 * x[:, :1].tanh() + 0.4 * x[:, 1:2] * x[:, 2:] - 0.3 * x[:, 2:]
    return x, depth + 0.3 * torch.randn(n, 1, generator=gen)


class VarianceReduced:
    """Wraps an optimizer. `anchor` the model now and then, `step` with each minibatch."""

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        loss: Callable[[Tensor, Tensor], Tensor],
    ) -> None:
        self.model = model
        self.optimizer = optimizer
        self.loss = loss
        self.still = copy.deepcopy(model)
        self.full: list[Tensor] = []

    def _clear(self) -> None:
        for p in self.still.parameters():
            if p.grad is not None:
                p.grad.zero_()  # expect: place

    def anchor(self, data: Pair) -> None:
        self.still.load_state_dict(self.model.state_dict())
        self._clear()
        x, y = data
        self.loss(self.still(x), y).backward()
        self.full = [p.grad for p in self.still.parameters()]  # expect: place

    def step(self, batch: Pair) -> float:
        x, y = batch
        self.optimizer.zero_grad()
        loss = self.loss(self.model(x), y)
        loss.backward()
        self._clear()  # expect: place
        self.loss(self.still(x), y).backward()  # expect: place
        triples = zip(self.model.parameters(), self.still.parameters(), self.full, strict=True)
        for p, still, full in triples:
            p.grad += full - still.grad  # expect: place
        self.optimizer.step()
        return loss.item()


def minibatches(data: Pair, size: int, gen: torch.Generator) -> Iterable[Pair]:
    x, y = data
    for rows in torch.randperm(len(x), generator=gen).split(size):
        yield x[rows], y[rows]


def main() -> None:
    torch.manual_seed(16)
    gen = torch.Generator().manual_seed(3)
    data, check = soundings(240, seed=60), soundings(240, seed=61)
    model = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
    loss = nn.MSELoss()
    svrg = VarianceReduced(model, torch.optim.SGD(model.parameters(), lr=0.05), loss)
    for sweep in range(4):
        svrg.anchor(data)
        values = [svrg.step(batch) for batch in minibatches(data, 16, gen)]
        with torch.no_grad():
            held_out = loss(model(check[0]), check[1]).item()
        mean = sum(values) / len(values)
        print(f"sweep {sweep}  in the sweep {mean:.4f}  held out {held_out:.4f}")


if __name__ == "__main__":
    main()
