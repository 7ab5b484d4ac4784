"""Dissolution curves of tablets: released fraction over time for a given coating and pressure.

The curve may never fall, so a falling slope is penalised. Updates are written by hand.
"""
import math

import torch

torch.manual_seed(5)
LR, MOMENTUM, WEIGHT = 0.05, 0.9, 2.0


def measured(count):
    coating = torch.rand(count)
    pressure = torch.rand(count)
    hours = 6 * torch.rand(count)
    rate = 0.9 * torch.exp(-1.5 * coating) * (1.2 - pressure)
    released = 1 - torch.exp(-rate * hours)
    return coating, pressure, hours, released + 0.03 * torch.randn(count)


def layer(inputs, outputs):
    weight = torch.randn(inputs, outputs) / math.sqrt(inputs)
    return [weight.requires_grad_(), torch.zeros(outputs, requires_grad=True)]


params = layer(3, 24) + layer(24, 24) + layer(24, 1)
velocity = [torch.zeros_like(p) for p in params]


def curve(coating, pressure, hours):
    w1, b1, w2, b2, w3, b3 = params
    x = torch.stack([coating - 0.5, pressure - 0.5, hours / 3 - 1], 1)
    h = torch.tanh(x @ w1 + b1)
    h = torch.tanh(h @ w2 + b2)
    return (h @ w3 + b3).squeeze(1)


def fall_penalty(predicted, hours):
    """Mean squared shortfall of the slope at the measured times."""
    (slope,) = torch.autograd.grad(predicted.sum(), hours, create_graph=True)
    return torch.relu(0.02 - slope).square().mean()


def main():
    coating, pressure, hours, released = measured(240)
    hours.requires_grad_()
    for step in range(60):
        predicted = curve(coating, pressure, hours)
        misfit = (predicted - released).square().mean()
        penalty = fall_penalty(predicted, hours)
        for p in params:
            p.grad = None
        (misfit + WEIGHT * penalty).backward()
        with torch.no_grad():
            for p, v in zip(params, velocity):
                v.mul_(MOMENTUM).add_(p.grad)
                p -= LR * v
        if step % 20 == 0:
            print(f"step {step}: misfit {misfit.item():.4f}, falling {penalty.item():.5f}")


main()
