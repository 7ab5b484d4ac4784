"""Sort radar echoes into meteors, aircraft and lightning, with as few range bins as possible.

First a coarse run at a high learning rate; then a fine run from the best point of it.
"""

import copy
import logging
import sys
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional as F

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
log = logging.getLogger("echoes")

KINDS = ("meteor", "aircraft", "lightning")
BINS = 20


class GatedSorter(nn.Module):
    """Every echo decides for itself which bins it lets through."""

    def __init__(self, hidden: int = 24) -> None:
        super().__init__()
        self.gate = nn.Linear(BINS, BINS)
        self.body = nn.Sequential(nn.Linear(BINS, hidden), nn.GELU(), nn.Linear(hidden, len(KINDS)))
        self.gates: Tensor | None = None

    def forward(self, echo: Tensor) -> Tensor:
        gates = torch.sigmoid(self.gate(echo))
        self.gates = gates
        return self.body(gates * echo)

    def openness(self) -> Tensor:
        assert self.gates is not None, "no echo has been seen yet"
        return self.gates.mean()


def echoes(n: int, gen: torch.Generator) -> tuple[Tensor, Tensor]:
    kind = torch.randint(len(KINDS), (n,), generator=gen)
    shapes = torch.stack([torch.linspace(2, -1, BINS), torch.ones(BINS), torch.zeros(BINS)])
    shapes[2, ::5] = 3.0
    return shapes[kind] + torch.randn(n, BINS, generator=gen), kind


class BestSoFar:
    """Remembers the model as it was at the end of its best epoch."""

    def __init__(self) -> None:
        self.loss = float("inf")
        self.model: GatedSorter | None = None

    def __call__(self, epoch: int, loss: float, model: GatedSorter) -> None:
        if loss < self.loss:
            self.loss = loss
            self.model = model
            log.info("epoch %d is the best so far (%.4f)", epoch, loss)


def batches(data: tuple[Tensor, Tensor], size: int) -> Iterator[tuple[Tensor, Tensor]]:
    yield from zip(*(column.split(size) for column in data), strict=True)


def run(
    model: GatedSorter,
    data: tuple[Tensor, Tensor],
    lr: float,
    epochs: int,
    thrift: float = 0.5,
    after_epoch: Callable[[int, float, GatedSorter], None] | None = None,
) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    for epoch in range(epochs):
        total = 0.0
        for echo, kind in batches(data, 40):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(echo), kind) + thrift * model.openness()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if after_epoch is not None:
            after_epoch(epoch, total / (len(data[0]) // 40), model)


def main() -> None:
    torch.manual_seed(14)
    gen = torch.Generator().manual_seed(22)
    data = echoes(160, gen)
    model, best = GatedSorter(), BestSoFar()
    run(model, data, lr=0.5, epochs=8, after_epoch=best)
    assert best.model is not None
    model = best.model
    run(model, data, lr=0.05, epochs=4)
    with torch.no_grad():
        echo, kind = echoes(300, gen)
        right = (model(echo).argmax(1) == kind).float().mean().item()
    log.info("right %.2f with gates %.2f open", right, model.openness().item())


if __name__ == "__main__":
    main()
