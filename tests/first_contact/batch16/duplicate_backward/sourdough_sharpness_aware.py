# expect: pattern = duplicate-backward
# expect: also = step-between-backwards, forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = loss
"""Sourness of sourdough from what the starter smelled like, trained towards flat minima."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import Optimizer


class FlatMinima(Optimizer):
    """Climb a little, take the gradient up there, come back down and step with it."""

    def __init__(self, params, base, rho=0.05, **settings):
        super().__init__(params, dict(rho=rho, **settings))
        self.base = base(self.param_groups, **settings)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def climb(self):
        norm = self._norm()
        for group in self.param_groups:
            scale = group["rho"] / (norm + 1e-12)
            for p in group["params"]:
                if p.grad is None:
                    continue
                self.state[p]["home"] = p.detach().clone()
                p.add_(p.grad * scale)
        self.zero_grad()

    @torch.no_grad()
    def descend(self):
        for group in self.param_groups:
            for p in group["params"]:
                if "home" in self.state[p]:
                    p.copy_(self.state[p].pop("home"))
        self.base.step()
        self.zero_grad()

    def _norm(self):
        grads = [p.grad.norm() for group in self.param_groups for p in group["params"] if p.grad is not None]
        return torch.stack(grads).norm()


class Nose(nn.Module):
    def __init__(self, sensors=14, grades=4):
        super().__init__()
        self.stem = nn.Linear(sensors, 32)
        self.block1 = nn.Sequential(nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 32))
        self.block2 = nn.Sequential(nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 32))
        self.grade = nn.Linear(32, grades)

    def forward(self, x):
        h = F.gelu(self.stem(x))
        h = h + self.block1(h)
        h = h + self.block2(h)
        return self.grade(h)


def smells(n=160):
    x = torch.randn(n, 14)
    sour = x[:, 0] + 0.5 * x[:, 3] * x[:, 5]
    return x, torch.bucketize(sour, torch.tensor([-0.7, 0.0, 0.7]))


def smooth_cross_entropy(logits, target, smoothing=0.1):
    return F.cross_entropy(logits, target, label_smoothing=smoothing)


def train_epoch(model, x, y, optimizer, batch=40):
    order, total = torch.randperm(len(x)), 0.0
    for picked in order.split(batch):
        loss = smooth_cross_entropy(model(x[picked]), y[picked])  # expect: place
        loss.backward()  # expect: place
        optimizer.climb()

        # gradient at the perturbed weights
        loss.backward()  # expect: place
        optimizer.descend()

        total += loss.item() * len(picked)
    return total / len(x)


@torch.no_grad()
def accuracy(model, x, y):
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(44)
    x, y = smells()
    model = Nose()
    optimizer = FlatMinima(model.parameters(), torch.optim.SGD, rho=0.08, lr=0.05, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer.base, T_max=4)
    for epoch in range(4):
        loss = train_epoch(model, x, y, optimizer)
        schedule.step()
        print(f"epoch {epoch}: loss {loss:.4f}, accuracy {accuracy(model, x, y):.3f}")


if __name__ == "__main__":
    main()
