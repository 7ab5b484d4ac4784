"""Scab, mildew and mites from one leaf scan: tasks whose gradients quarrel are projected apart."""
import random

import torch
import torch.nn.functional as F
from torch import nn

TASKS = ("scab", "mildew", "mites")


class LeafNet(nn.Module):
    def __init__(self, bands, width):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(bands, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.heads = nn.ModuleDict({task: nn.Linear(width, 1) for task in TASKS})

    def forward(self, x):
        z = self.trunk(x)
        return {task: head(z).squeeze(-1) for task, head in self.heads.items()}


class PCGrad:
    """Wraps an optimizer; `pc_backward` takes the place of `backward`."""

    def __init__(self, optimizer):
        self.optimizer = optimizer

    @property
    def params(self):
        return [p for group in self.optimizer.param_groups for p in group["params"]]

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self):
        self.optimizer.step()

    def flat_gradients(self, losses):
        flat = []
        for loss in losses:
            grads = torch.autograd.grad(
                loss, self.params, retain_graph=True, allow_unused=True, materialize_grads=True)
            flat.append(torch.cat([g.reshape(-1) for g in grads]))
        return flat

    @staticmethod
    def project(flat):
        result = []
        for g in flat:
            g = g.clone()
            for other in random.sample(flat, len(flat)):
                along = g @ other
                if along < 0:
                    g -= along / other.norm().square().clamp(min=1e-12) * other
            result.append(g)
        return torch.stack(result).mean(0)

    def pc_backward(self, losses):
        merged = self.project(self.flat_gradients(losses))
        start = 0
        for p in self.params:
            p.grad = merged[start:start + p.numel()].view_as(p).clone()
            start += p.numel()


def scans(count):
    x = torch.randn(count, 7)
    return x, {
        "scab": (x[:, 0] + x[:, 1] > 0).float(),
        "mildew": (x[:, 0] - x[:, 2] < 0).float(),
        "mites": (x[:, 3] * x[:, 4] > 0).float(),
    }


def main():
    torch.manual_seed(13)
    random.seed(13)
    net = LeafNet(7, 16)
    opt = PCGrad(torch.optim.Adam(net.parameters(), lr=0.01))
    for step in range(20):
        x, wanted = scans(32)
        out = net(x)
        losses = [F.binary_cross_entropy_with_logits(out[t], wanted[t]) for t in TASKS]
        opt.zero_grad()
        opt.pc_backward(losses)
        opt.step()
        if step % 5 == 0:
            print(step, [round(v.item(), 3) for v in losses])


main()
