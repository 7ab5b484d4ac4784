"""A loaded beam: the net's curvature must follow the bending moment (EI w'' = M)."""
import torch
from torch import nn


def slope_of(values, at, **options):
    (result,) = torch.autograd.grad(values.sum(), at, **options)
    return result


def curvature(values, at, **options):
    slope = slope_of(values, at, create_graph=True)
    return slope_of(slope, at, **options)


def moment(at):
    return at * (1 - at) / 2


torch.manual_seed(31)
beam = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(beam.parameters(), lr=1e-2)
for step in range(8):
    at = torch.rand(32, 1, requires_grad=True)
    w = beam(at)
    bend = curvature(w, at, retain_graph=True)
    loss = (bend - moment(at)).pow(2).mean() + (w * (at - 0.5).sign()).mean().pow(2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 4))
