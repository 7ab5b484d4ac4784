"""Grain sizes of windblown dust in a loess wall, unmixed into a few sources (endmember modelling)."""
import numpy as np
import torch
from torch import nn

BINS, SOURCES = 30, 3
rng = np.random.RandomState(5)


def loess_wall(samples):
    x = np.linspace(0, 1, BINS)
    sources = np.stack([np.exp(-((x - m) / s) ** 2) for m, s in [(0.25, 0.08), (0.5, 0.1), (0.8, 0.06)]])
    sources /= sources.max(1, keepdims=True)
    shares = rng.dirichlet([0.7] * SOURCES, samples)
    curves = shares @ sources + 0.02 * rng.randn(samples, BINS)
    return torch.tensor(curves, dtype=torch.float32), torch.tensor(sources, dtype=torch.float32)


class Unmixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(BINS, 20), nn.Tanh(), nn.Linear(20, SOURCES))
        self.endmembers = nn.Parameter(torch.rand(SOURCES, BINS))

    def forward(self, curves):
        shares = torch.softmax(self.encoder(curves), dim=1)
        return shares @ self.endmembers, shares

    def project(self):
        self.endmembers.requires_grad_(False).clamp_(0.0, 1.0)


def roughness(endmembers):
    return (endmembers[:, 2:] - 2 * endmembers[:, 1:-1] + endmembers[:, :-2]).pow(2).mean()


def best_match(found, true):
    found = nn.functional.normalize(found.detach(), dim=1)
    true = nn.functional.normalize(true, dim=1)
    return (found @ true.T).max(0).values.mean().item()


def fit(unmixer, curves, true, sweeps=30, batch=60):
    opt = torch.optim.Adam(unmixer.parameters(), lr=0.03)
    for sweep in range(sweeps):
        order = torch.from_numpy(rng.permutation(len(curves)))
        misfit = 0.0
        for rows in order.split(batch):
            opt.zero_grad()
            rebuilt, shares = unmixer(curves[rows])
            loss = (rebuilt - curves[rows]).pow(2).mean() + 0.1 * roughness(unmixer.endmembers)
            loss.backward()
            opt.step()
            unmixer.project()
            misfit += loss.item()
        if sweep % 10 == 9:
            print(f"sweep {sweep + 1:2d}: misfit {misfit:.4f}, cosine to the true sources "
                  f"{best_match(unmixer.endmembers, true):.3f}, shares {shares.detach().mean(0).numpy().round(2)}")


if __name__ == "__main__":
    torch.manual_seed(2)
    fit(Unmixer(), *loess_wall(240))
