# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = heads, param_groups, trunk
"""City trips: duration, fare and tip flag from one shared encoder."""
import math
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)


class TripNet(nn.Module):
    tasks = {"duration": 1, "fare": 1, "tip": 1}

    def __init__(self, n_zones=12, width=24):
        super().__init__()
        self.zone = nn.Embedding(n_zones, 6)
        self.shared = nn.Sequential(nn.Linear(12 + 2, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.heads = nn.ModuleDict({t: nn.Linear(width, k) for t, k in self.tasks.items()})

    def forward(self, pickup, drop, clock):
        z = self.shared(torch.cat([self.zone(pickup), self.zone(drop), clock], dim=1))
        return {t: head(z).squeeze(1) for t, head in self.heads.items()}

    def groups(self, lr, head_lr):
        trunk = [*self.zone.parameters(), *self.shared.parameters()]
        heads = [{"params": list(h.parameters()), "lr": head_lr} for h in self.heads.values()]
        return [{"params": trunk, "lr": lr}, *heads]


@dataclass
class WarmupClip:
    """Optimizer with linear warm-up and clipping of the shared part."""
    inner: torch.optim.Optimizer
    warmup: int = 4
    max_norm: float = 1.0
    done: int = 0
    base: list = field(init=False)

    def __post_init__(self):
        self.base = [g["lr"] for g in self.inner.param_groups]

    @property
    def trunk(self):
        return self.inner.param_groups[0]["params"]  # expect: place

    def clear(self):
        for p in self.trunk:  # expect: place
            p.grad = None  # expect: place

    def advance(self):
        self.done += 1
        scale = min(1.0, self.done / self.warmup)
        for group, lr in zip(self.inner.param_groups, self.base):
            group["lr"] = lr * scale
        norm = nn.utils.clip_grad_norm_(self.trunk, self.max_norm)
        self.inner.step()  # expect: place
        return norm.item()


def trips(n=64):
    pickup, drop = torch.randint(0, 12, (2, n))
    hour = torch.rand(n) * 24
    clock = torch.stack([torch.sin(hour * math.pi / 12), torch.cos(hour * math.pi / 12)], dim=1)
    km = (pickup - drop).abs().float() + 0.5
    duration = km * (0.3 + 0.1 * clock[:, 0]) + 0.1 * torch.randn(n)
    fare = 0.25 * km + 0.3 + 0.05 * torch.randn(n)
    tip = (fare + 0.5 * torch.randn(n) > 1.5).float()
    return (pickup, drop, clock), {"duration": duration, "fare": fare, "tip": tip}


CRITERIA = {"duration": F.smooth_l1_loss, "fare": F.mse_loss, "tip": F.binary_cross_entropy_with_logits}


def losses(out, truth, weights):
    return {t: weights[t] * CRITERIA[t](out[t], truth[t]) for t in CRITERIA}


def main(steps=12):
    net = TripNet()
    driver = WarmupClip(torch.optim.SGD(net.groups(lr=0.05, head_lr=0.02), lr=0.05))
    weights = {"duration": 1.0, "fare": 1.0, "tip": 0.5}
    for step in range(steps):
        inputs, truth = trips()
        parts = losses(net(*inputs), truth, weights)
        driver.clear()  # expect: place
        sum(parts.values()).backward()  # expect: place
        norm = driver.advance()  # expect: place
        if step % 3 == 0:
            print(step, f"|g| {norm:.3f}", {t: round(v.item(), 4) for t, v in parts.items()})


if __name__ == "__main__":
    main()
