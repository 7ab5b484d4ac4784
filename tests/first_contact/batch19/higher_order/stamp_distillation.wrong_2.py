"""Distil a drawer of stamps into two drawn stamps per country.

The drawn stamps and the step size are learnt: train a fresh small net on them for a few steps,
then ask it about real stamps.
"""
import math
from typing import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

COUNTRIES, PIXELS, HIDDEN = 5, 36, 24


class Drawer:
    def __init__(self, per_country: int = 40) -> None:
        motif = torch.randn(COUNTRIES, PIXELS)
        self.label = torch.arange(COUNTRIES).repeat(per_country)
        self.stamp = motif[self.label] + 0.8 * torch.randn(len(self.label), PIXELS)

    def batches(self, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        for idx in torch.randperm(len(self.label)).split(size):
            yield self.stamp[idx], self.label[idx]


def fresh_weights() -> list[Tensor]:
    shapes = [(HIDDEN, PIXELS), (HIDDEN,), (COUNTRIES, HIDDEN), (COUNTRIES,)]
    return [
        (torch.randn(s) / math.sqrt(s[-1]) if len(s) == 2 else torch.zeros(s)).requires_grad_()
        for s in shapes
    ]


def net(weights: list[Tensor], x: Tensor) -> Tensor:
    w1, b1, w2, b2 = weights
    return F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2)


class Distilled(nn.Module):
    def __init__(self, per_country: int = 2) -> None:
        super().__init__()
        self.stamps = nn.Parameter(0.5 * torch.randn(COUNTRIES * per_country, PIXELS))
        self.raw_lr = nn.Parameter(torch.tensor(-1.0))
        self.register_buffer("labels", torch.arange(COUNTRIES).repeat(per_country))

    def teach(self, weights: list[Tensor], steps: int) -> list[Tensor]:
        lr = F.softplus(self.raw_lr)
        for _ in range(steps):
            loss = F.cross_entropy(net(weights, self.stamps), self.labels)
            grads = torch.autograd.grad(loss, weights, create_graph=True)
            weights = [w - lr * g for w, g in zip(weights, grads)]
        return weights


def distil(rounds: int = 5, inner_steps: int = 4, batch: int = 50) -> Distilled:
    drawer, distilled = Drawer(), Distilled()
    optimizer = torch.optim.Adam(distilled.parameters(), lr=0.03)
    for r in range(rounds):
        trained = [w.detach().requires_grad_() for w in distilled.teach(fresh_weights(), inner_steps)]
        optimizer.zero_grad()
        total, right, seen = 0.0, 0, 0
        for stamp, label in drawer.batches(batch):
            logits = net(trained, stamp)
            loss = F.cross_entropy(logits, label) * len(label) / len(drawer.label)
            loss.backward()
            total += loss.item()
            right += int((logits.argmax(1) == label).sum())
            seen += len(label)
        optimizer.step()
        print(f"round {r}: loss {total:.3f}  right {right / seen:.2f}  lr {F.softplus(distilled.raw_lr).item():.3f}")
    return distilled


if __name__ == "__main__":
    torch.manual_seed(90)
    distil()
