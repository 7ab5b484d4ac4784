"""Merge regional land-cover encoders with learned layer-wise coefficients.

theta = theta_0 + sum_k lambda[k, layer] * (theta_k - theta_0)
The lambdas and a new head are tuned on a small labelled calibration set.
"""
import copy

import torch
from torch import nn
import torch.nn.functional as F

BANDS, CLASSES, FEATURES = 10, 5, 24


class PatchEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.spectral = nn.Linear(BANDS, 32)
        self.spatial = nn.Linear(32, FEATURES)

    def forward(self, x):
        return torch.tanh(self.spatial(torch.relu(self.spectral(x))))


class LayerwiseMix(nn.Module):
    """One coefficient for every (expert, tensor) pair."""

    def __init__(self, base, experts, init=0.3):
        super().__init__()
        self.names = list(base)
        self.base = base
        self.deltas = [{n: e[n] - base[n] for n in self.names} for e in experts]
        self.raw = nn.Parameter(torch.full((len(experts), len(self.names)), init))

    def forward(self):
        merged = {}
        for j, name in enumerate(self.names):
            shift = sum(self.raw[k, j] * d[name] for k, d in enumerate(self.deltas))
            merged[name] = self.base[name] + shift
        return merged


def region(seed, n=96):
    g = torch.Generator().manual_seed(seed)
    proj = torch.randn(BANDS, CLASSES, generator=torch.Generator().manual_seed(5))
    tilt = 0.6 * torch.randn(BANDS, CLASSES, generator=g)
    x = torch.randn(n, BANDS, generator=g)
    return x, (x @ (proj + tilt)).argmax(1)


def finetune(start, data, steps=25):
    enc, head = copy.deepcopy(start), nn.Linear(FEATURES, CLASSES)
    opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.3)
    x, y = data
    for _ in range(steps):
        opt.zero_grad()
        F.cross_entropy(head(enc(x)), y).backward()
        opt.step()
    return {k: v.clone() for k, v in enc.state_dict().items()}


def snapshot(module):
    return {k: v.clone() for k, v in module.state_dict().items()}


def calibrate(trunk, mix, head, x, y, epochs=30):
    opt = torch.optim.Adam([
        {"params": mix.parameters(), "lr": 2e-2},
        {"params": head.parameters(), "lr": 1e-2},
    ])
    for epoch in range(epochs):
        state = mix()
        for name, p in trunk.named_parameters():
            p.data = state[name]
        loss = F.cross_entropy(head(trunk(x)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if epoch % 10 == 0:
            print(f"epoch {epoch:2d}  loss {loss.item():.4f}")


def main():
    torch.manual_seed(3)
    base = PatchEncoder()
    experts = [finetune(base, region(s)) for s in (21, 22, 23)]

    mix = LayerwiseMix(snapshot(base), experts)
    trunk = PatchEncoder()
    head = nn.Linear(FEATURES, CLASSES)
    x, y = region(40, n=64)
    calibrate(trunk, mix, head, x, y)

    for name, column in zip(mix.names, mix.raw.detach().T):
        print(f"{name:18s}", [round(v, 3) for v in column.tolist()])


if __name__ == "__main__":
    main()
