# expect: pattern = none
# expect: raises = nothing
"""Sepsis alarm from vital signs, trained with differential privacy.

Every patient's gradient is clipped on its own before noise is added.  One forward per batch,
then one backward per patient over that forward; the weights do not move in between.
"""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Privacy:
    clip: float = 1.0
    noise: float = 0.05
    batch: int = 16


class VitalsNet(nn.Module):
    """heart rate, pressure, temperature, saturation, breathing over 12 hours"""

    def __init__(self, channels=5, hours=12):
        super().__init__()
        self.conv = nn.Conv1d(channels, 10, kernel_size=3)
        self.fc1 = nn.Linear(10 * (hours - 2), 16)
        self.fc2 = nn.Linear(16, 1)

    def forward(self, vitals):
        h = F.elu(self.conv(vitals)).flatten(1)
        h = F.elu(self.fc1(h))
        return self.fc2(h).squeeze(1)


def ward(n):
    septic = (torch.rand(n) < 0.4).float()
    hours = torch.linspace(0, 1, 12)
    vitals = 0.5 * torch.randn(n, 5, 12)
    onset = torch.sigmoid(8 * (hours - 0.5)) * septic.view(-1, 1)
    vitals[:, 0] += 1.5 * onset
    vitals[:, 1] -= 1.2 * onset
    vitals[:, 4] += onset
    return vitals, septic


def private_gradients(losses, params, privacy):
    summed = [torch.zeros_like(p) for p in params]
    clipped = 0
    for i, loss in enumerate(losses):
        last = i == len(losses) - 1
        grads = torch.autograd.grad(loss, params, retain_graph=not last)
        norm = math.sqrt(sum(g.pow(2).sum().item() for g in grads))
        factor = min(1.0, privacy.clip / (norm + 1e-6))
        clipped += factor < 1.0
        for total, g in zip(summed, grads):
            total.add_(g, alpha=factor)
    for total in summed:
        total.add_(torch.randn_like(total), alpha=privacy.noise * privacy.clip)
        total.div_(len(losses))
    return summed, clipped


def main():
    torch.manual_seed(60)
    privacy = Privacy()
    vitals, septic = ward(160)
    net = VitalsNet()
    params = list(net.parameters())
    optimizer = torch.optim.SGD(params, lr=0.5, momentum=0.5)
    for epoch in range(3):
        seen, clipped = 0.0, 0
        for rows in torch.randperm(len(vitals)).split(privacy.batch):
            losses = F.binary_cross_entropy_with_logits(net(vitals[rows]), septic[rows], reduction="none")
            grads, c = private_gradients(losses, params, privacy)
            for p, g in zip(params, grads):
                p.grad = g
            optimizer.step()
            seen += losses.sum().item()
            clipped += c
        print(f"epoch {epoch}: loss {seen / len(vitals):.3f}  clipped {clipped}/{len(vitals)}")


if __name__ == "__main__":
    main()
