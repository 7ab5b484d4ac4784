"""Discharge over weirs with an ensemble: all members run at once with vmap."""
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, stack_module_state, vmap


def gaugings(count):
    """Head, crest width and tailwater level against measured discharge."""
    head = 0.05 + 0.6 * torch.rand(count)
    width = 0.5 + 2 * torch.rand(count)
    tail = head * torch.rand(count)
    drowned = (1 - (tail / head) ** 1.5) ** 0.385
    flow = 1.8 * width * head**1.5 * drowned * (1 + 0.04 * torch.randn(count))
    return torch.stack([head, width, tail], 1), flow


class Rating(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
                                 nn.Linear(width, 2))

    def forward(self, x):
        mean, raw = self.net(x).unbind(-1)
        return mean, F.softplus(raw) + 1e-2


class Ensemble:
    def __init__(self, size, lr):
        self.members = [Rating() for _ in range(size)]
        self.weights, self.buffers = stack_module_state(self.members)
        self.skeleton = Rating()
        self.optimizer = torch.optim.AdamW(
            self.skeleton.parameters(), lr=lr
        )

    def _one(self, weights, buffers, x):
        return functional_call(self.skeleton, (weights, buffers), (x,))

    def predict(self, x, own_data=False):
        run = vmap(self._one, in_dims=(0, 0, 0 if own_data else None))
        return run(self.weights, self.buffers, x)

    def fit_batch(self, x, y):
        mean, std = self.predict(x, own_data=True)
        nll = 0.5 * ((y - mean) / std).square() + std.log() + 0.5 * math.log(2 * math.pi)
        per_member = nll.mean(1)
        self.optimizer.zero_grad()
        per_member.sum().backward()
        self.optimizer.step()
        return per_member.detach()


def bootstrap(count, size, batch):
    return torch.randint(0, count, (size, batch))


@torch.no_grad()
def verdict(ensemble, x, y):
    mean, std = ensemble.predict(x)
    centre = mean.mean(0)
    spread = (std.square().mean(0) + mean.var(0)).sqrt()
    covered = ((y - centre).abs() < 2 * spread).float().mean()
    return F.mse_loss(centre, y).sqrt().item(), covered.item()


def main():
    torch.manual_seed(9)
    x, y = gaugings(400)
    x = (x - x.mean(0)) / x.std(0)
    ensemble = Ensemble(size=5, lr=1e-2)
    for step in range(60):
        rows = bootstrap(320, 5, 32)
        losses = ensemble.fit_batch(x[rows], y[rows])
        if step % 15 == 14:
            rmse, covered = verdict(ensemble, x[320:], y[320:])
            print(f"{step:3d} nll {losses.mean():.3f} worst {losses.max():.3f} "
                  f"rmse {rmse:.3f} covered {covered:.2f}")


main()
