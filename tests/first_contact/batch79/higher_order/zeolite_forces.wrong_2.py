"""A force field for small silicate clusters: energies from pair messages, forces by autograd."""
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import nn


class Cluster(NamedTuple):
    kinds: torch.Tensor
    positions: torch.Tensor
    forces: torch.Tensor


class RadialBasis(nn.Module):
    def __init__(self, count=12, reach=4.0):
        super().__init__()
        self.register_buffer("centres", torch.linspace(0.5, reach, count))
        self.width = reach / count

    def forward(self, distance):
        return torch.exp(-((distance.unsqueeze(-1) - self.centres) / self.width) ** 2)


class Interaction(nn.Module):
    def __init__(self, width, basis):
        super().__init__()
        self.filter = nn.Sequential(nn.Linear(basis, width), nn.SiLU(), nn.Linear(width, width))
        self.update = nn.Sequential(nn.Linear(width, width), nn.SiLU())

    def forward(self, h, source, target, radial):
        messages = h[source] * self.filter(radial)
        return h + self.update(torch.zeros_like(h).index_add(0, target, messages))


class ClusterEnergy(nn.Module):
    def __init__(self, kinds=2, width=24, depth=2):
        super().__init__()
        self.embed = nn.Embedding(kinds, width)
        self.basis = RadialBasis()
        self.blocks = nn.ModuleList(Interaction(width, 12) for _ in range(depth))
        self.read = nn.Sequential(nn.Linear(width, 16), nn.SiLU(), nn.Linear(16, 1))

    def forward(self, kinds, positions):
        n = len(kinds)
        source, target = (~torch.eye(n, dtype=torch.bool)).nonzero(as_tuple=True)
        radial = self.basis((positions[source] - positions[target]).norm(dim=1))
        h = self.embed(kinds)
        for block in self.blocks:
            h = block(h, source, target, radial)
        return self.read(h).sum()


class Potential:
    """The calculator that both training and molecular dynamics go through."""

    def __init__(self, net):
        self.net = net

    @contextmanager
    def _tracked(self, positions):
        tracked = positions.detach().clone().requires_grad_(True)
        with torch.enable_grad():
            yield tracked

    def forces(self, cluster):
        with self._tracked(cluster.positions) as positions:
            energy = self.net(cluster.kinds, positions)
            gradient, = torch.autograd.grad(energy, positions, retain_graph=True)
        return -gradient + 0.0 * energy


def clusters(count, atoms=6):
    """Reference forces of a shifted Morse-like pair law."""
    for _ in range(count):
        kinds = torch.randint(2, (atoms,))
        grid = torch.tensor([[i % 2, i // 2 % 2, i // 4] for i in range(atoms)]).float()
        positions = (1.6 * grid + 0.15 * torch.randn(atoms, 3)).requires_grad_(True)
        distance = torch.pdist(positions)
        energy = ((1 - torch.exp(-1.2 * (distance - 1.7))) ** 2).sum()
        reference, = torch.autograd.grad(energy, positions)
        yield Cluster(kinds, positions.detach(), -reference)


def force_loss(potential, batch):
    errors = [(potential.forces(c) - c.forces).pow(2).mean() for c in batch]
    return torch.stack(errors).mean()


def main():
    torch.manual_seed(28)
    net = ClusterEnergy()
    potential = Potential(net)
    data = list(clusters(16))
    # the constant of the energy says nothing about forces
    learnt = [p for name, p in net.named_parameters() if name != "read.2.bias"]
    optimizer = torch.optim.Adam(learnt, lr=4e-3)
    for epoch in range(8):
        total = 0.0
        for start in range(0, len(data), 4):
            loss = force_loss(potential, data[start:start + 4])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: force error {total / 4:.4f}")


if __name__ == "__main__":
    main()
