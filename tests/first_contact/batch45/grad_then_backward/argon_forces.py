# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
"""Fit a pair potential of small argon clusters to energies and forces."""
from typing import NamedTuple

import torch
from torch import nn


class Cluster(NamedTuple):
    places: torch.Tensor
    energy: torch.Tensor
    force: torch.Tensor


def lennard_jones(places):
    gaps = pair_distances(places)
    return 4 * (gaps.pow(-12) - gaps.pow(-6)).sum(-1)


def pair_distances(places):
    n = places.shape[1]
    left, right = torch.triu_indices(n, n, offset=1)
    return (places[:, left] - places[:, right]).norm(dim=-1)


def sample_clusters(count, atoms):
    grid = torch.cartesian_prod(*[torch.arange(2.0)] * 3)[:atoms] * 1.3
    places = (grid + 0.06 * torch.randn(count, atoms, 3)).requires_grad_()
    energy = lennard_jones(places)
    force = -torch.autograd.grad(energy.sum(), places)[0]
    return Cluster(places.detach(), energy.detach(), force)


class PairNet(nn.Module):
    def __init__(self, centers=12, width=24):
        super().__init__()
        self.register_buffer("centers", torch.linspace(0.8, 2.6, centers))
        self.net = nn.Sequential(nn.Linear(centers, width), nn.Softplus(), nn.Linear(width, 1))

    def forward(self, places):
        gaps = pair_distances(places).unsqueeze(-1)
        features = torch.exp(-8 * (gaps - self.centers) ** 2)
        return self.net(features).sum(dim=(1, 2))


def predict(potential, places):
    places = places.clone().requires_grad_(True)
    energy = potential(places)
    force = -torch.autograd.grad(energy.sum(), places)[0]  # expect: place
    return energy, force


def errors(potential, cluster):
    energy, force = predict(potential, cluster.places)
    return ((energy - cluster.energy) ** 2).mean(), ((force - cluster.force) ** 2).mean()


def train(rounds=12, force_share=5.0):
    torch.manual_seed(17)
    data = sample_clusters(24, atoms=4)
    potential = PairNet()
    opt = torch.optim.Adam(potential.parameters(), lr=1e-2)
    for k in range(rounds):
        e_err, f_err = errors(potential, data)
        total = e_err + force_share * f_err
        opt.zero_grad()
        total.backward()  # expect: place
        opt.step()
        if k % 4 == 0:
            print(f"round {k}: energy {e_err:.3f} force {f_err:.3f}")


if __name__ == "__main__":
    train()
