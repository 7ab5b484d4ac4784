"""Bread ovens: crust colour from six probes. Trunk and head have their own clipping limits."""
import torch
import torch.nn as nn


def parts(net):
    return {"trunk": (list(net[:2].parameters()), 1.0), "head": (list(net[2:].parameters()), 0.2)}


def settle(bill, groups):
    norms = {}
    bill.backward()
    for name, (weights, limit) in groups.items():
        norms[name] = float(nn.utils.clip_grad_norm_(weights, limit))
    return norms


def loaves(n):
    probes = torch.rand(n, 6)
    colour = torch.sin(3 * probes[:, :1]) * probes[:, 1:2] + 0.5 * probes[:, 5:]
    return probes, colour


def bake(net, days):
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    groups = parts(net)
    for day in range(days):
        probes, colour = loaves(24)
        opt.zero_grad()
        bill = nn.functional.huber_loss(net(probes), colour)
        norms = settle(bill, groups)
        opt.step()
        print(f"day {day}: {bill.item():.4f}", {k: round(v, 3) for k, v in norms.items()})


if __name__ == "__main__":
    torch.manual_seed(8)
    bake(nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 12), nn.SiLU(), nn.Linear(12, 1)), 6)
