"""Few-shot pump curves: learn a start from which two gradient steps fit a new pump."""
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F


class SwapLinear(nn.Linear):
    """A linear layer that can be run with other weights than its own."""

    def forward(self, x, params=None):
        if params is None:
            params = OrderedDict(self.named_parameters())
        return F.linear(x, params["weight"], params["bias"])


def part_of(params, prefix):
    """The entries below `prefix`, with the prefix cut off."""
    if params is None:
        return None
    start = prefix + "."
    return OrderedDict((k[len(start):], v) for k, v in params.items() if k.startswith(start))


class PumpCurve(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.lift = SwapLinear(2, width)
        self.mix = SwapLinear(width, width)
        self.head = SwapLinear(width, 1)

    def forward(self, x, params=None):
        h = torch.tanh(self.lift(x, part_of(params, "lift")))
        h = torch.tanh(self.mix(h, part_of(params, "mix")))
        return self.head(h, part_of(params, "head"))


class Pump:
    def __init__(self):
        self.shutoff = 1.0 + torch.rand(())
        self.slope = 0.3 + 0.4 * torch.rand(())

    def points(self, n):
        flow_speed = torch.rand(n, 2)
        pressure = self.shutoff * flow_speed[:, 1] ** 2 - self.slope * flow_speed[:, 0] ** 2
        return flow_speed, pressure.unsqueeze(1)


def descend(loss, params, lr):
    grads = torch.autograd.grad(loss, params.values(), create_graph=True)
    return OrderedDict((k, p - lr * g) for (k, p), g in zip(params.items(), grads))


def adapt(model, x, y, steps, lr):
    params = OrderedDict(model.named_parameters())
    for _ in range(steps):
        loss = F.mse_loss(model(x, params), y)
        params = descend(loss, params, lr)
    return params


def meta_batch(model, pumps, steps, lr):
    losses = []
    for pump in pumps:
        shots, queries = pump.points(5), pump.points(20)
        params = adapt(model, *shots, steps=steps, lr=lr)
        losses.append(F.mse_loss(model(queries[0], params), queries[1]))
    return torch.stack(losses).mean()


def main():
    torch.manual_seed(17)
    model = PumpCurve()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for it in range(6):
        loss = meta_batch(model, [Pump() for _ in range(4)], steps=2, lr=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(it, round(loss.item(), 4))


if __name__ == "__main__":
    main()
