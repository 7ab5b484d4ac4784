"""Tell weeds from beet seedlings in row images, with sharpness-aware steps and AMP on the CPU."""
from collections import defaultdict

import torch
from torch import nn
from torch.nn import functional as F


class SharpnessAware(torch.optim.Optimizer):
    """Climb to the worst weights nearby, take the gradient there, descend from where we were."""

    def __init__(self, params, base, radius=0.05, **kwargs):
        super().__init__(params, dict(radius=radius, **kwargs))
        self.base = base(self.param_groups, **kwargs)
        self.param_groups = self.base.param_groups

    def _learnt(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    yield group, p

    @torch.no_grad()
    def climb(self, zero_grad=False):
        norm = torch.stack([p.grad.norm() for _, p in self._learnt()]).norm()
        for group, p in self._learnt():
            self.state[p]["home"] = p.detach().clone()
            p.add_(p.grad, alpha=group["radius"] / (norm.item() + 1e-12))
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def descend(self, zero_grad=False):
        for _, p in self._learnt():
            p.copy_(self.state[p]["home"])
        self.base.step()
        if zero_grad:
            self.zero_grad()


class SeedlingNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(2, 8, 3, padding=1)
        self.block = nn.Conv2d(8, 8, 3, padding=1)
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        x = F.silu(self.stem(x))
        x = x + F.silu(self.block(x))
        return self.out(x.mean((2, 3)))


class Fitter:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.log = defaultdict(list)

    def _loss(self, images, labels):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = self.model(images)
        return F.cross_entropy(logits.float(), labels, label_smoothing=0.05)

    def batch(self, images, labels):
        loss = self._loss(images, labels)
        loss.backward()
        self.optimizer.climb(zero_grad=True)
        sharp = self._loss(images, labels)
        sharp.backward()
        self.optimizer.descend(zero_grad=True)
        self.log["loss"].append(loss.item())
        self.log["sharpness"].append(sharp.item() - loss.item())

    def epoch(self, batches):
        self.log.clear()
        for images, labels in batches:
            self.batch(images, labels)
        return {name: sum(values) / len(values) for name, values in self.log.items()}


def field(batches=10, size=16):
    out = []
    for _ in range(batches):
        labels = torch.randint(2, (size,))
        images = 0.4 * torch.randn(size, 2, 8, 8)
        images[:, 0, 2:6, 2:6] += labels[:, None, None].float()
        images[:, 1, :, 3:5] += (1 - labels)[:, None, None].float()
        out.append((images, labels))
    return out


if __name__ == "__main__":
    torch.manual_seed(77)
    net = SeedlingNet()
    fitter = Fitter(net, SharpnessAware(net.parameters(), torch.optim.SGD, radius=0.08,
                                        lr=0.05, momentum=0.9))
    rows = field()
    for epoch in range(5):
        means = fitter.epoch(rows)
        print(epoch, "  ".join(f"{name} {value:.4f}" for name, value in means.items()))
