# expect: pattern = none
# expect: raises = nothing
"""Tidal stream speed for a turbine site: harmonics by LBFGS, then a recurrent correction."""
import math

import torch
import torch.nn as nn

PERIODS = torch.tensor([12.42, 12.0, 12.66, 23.93])      # M2 S2 N2 K1, hours


def record(hours=240.0, dt=0.5):
    t = torch.arange(0, hours, dt)
    arg = 2 * math.pi * t[:, None] / PERIODS
    speed = (torch.tensor([1.4, 0.5, 0.3, 0.2]) * torch.sin(arg + 0.4)).sum(1)
    surge = 0.02 * torch.randn(len(t)).cumsum(0)
    return t, speed + surge


def harmonics(t):
    arg = 2 * math.pi * t[:, None] / PERIODS
    return torch.cat([arg.sin(), arg.cos()], dim=1)


def fit_harmonics(t, speed):
    basis = harmonics(t)                       # the same in every call
    coef = torch.zeros(basis.shape[1], requires_grad=True)
    opt = torch.optim.LBFGS([coef], max_iter=15)

    def closure():
        opt.zero_grad()
        loss = (basis @ coef - speed).square().mean()
        loss.backward()
        return loss

    for _ in range(2):
        opt.step(closure)
    return coef


class Correction(nn.Module):
    def __init__(self, hidden=12):
        super().__init__()
        self.cell = nn.GRUCell(1, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, h):
        ys = []
        for xt in x:
            h = self.cell(xt.view(1, 1), h)
            ys.append(self.out(h).view(()))
        return torch.stack(ys), h


def main():
    torch.manual_seed(12)
    t, speed = record()
    coef = fit_harmonics(t, speed)
    residual = speed - (harmonics(t) @ coef).detach()
    net = Correction()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    best, kept = float("inf"), None
    for epoch in range(2):
        h = torch.zeros(1, 12)
        total, power = 0.0, []
        opt.zero_grad()
        for k, chunk in enumerate(residual.split(48)):
            pred, h = net(chunk[:-1], h.detach())
            loss = (pred - chunk[1:]).square().mean() / 2
            loss.backward()
            if k % 2 == 1:
                opt.step()
                opt.zero_grad()
            total += loss.detach()
            power.append(pred.detach().abs().pow(3))
        if total < best:
            best = total
            kept = {k: v.detach().clone() for k, v in net.state_dict().items()}
        print(f"epoch {epoch}  loss {total.item():.4f}  cubed surge {torch.cat(power).mean().item():.5f}")
    net.load_state_dict(kept)


main()
