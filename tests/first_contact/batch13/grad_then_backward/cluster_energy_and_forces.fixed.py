"""Potential of small argon clusters, fitted to energies and to forces (minus the gradient of the energy)."""
import torch
from torch import nn


def lennard_jones(pos):
    i, j = torch.triu_indices(pos.shape[1], pos.shape[1], 1)
    r2 = (pos[:, i] - pos[:, j]).square().sum(-1) + 1.0
    return (3 * r2 ** -3 - 2 * r2 ** -1.5).sum(1)


class Potential(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.pair = nn.Sequential(nn.Linear(1, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, pos):
        i, j = torch.triu_indices(pos.shape[1], pos.shape[1], 1)
        r = (pos[:, i] - pos[:, j]).square().sum(-1, keepdim=True).add(1.0).sqrt()
        return self.pair(r).sum((1, 2))


def forces_of(energy, pos):
    return -torch.autograd.grad(energy.sum(), pos, create_graph=True)[0]


def sample(n):
    pos = torch.randn(n, 4, 3).requires_grad_()
    e = lennard_jones(pos)
    f = forces_of(e, pos)
    return pos.detach(), e.detach(), f.detach()


torch.manual_seed(40)
net = Potential()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
places, e_ref, f_ref = sample(64)
for epoch in range(10):
    pos = places.clone().requires_grad_()
    energy = net(pos)
    forces = forces_of(energy, pos)
    loss_e = (energy - e_ref).square().mean()
    loss_f = (forces - f_ref).square().mean()
    loss = loss_e + 10 * loss_f
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(epoch, round(loss_e.item(), 4), round(loss_f.item(), 4))
