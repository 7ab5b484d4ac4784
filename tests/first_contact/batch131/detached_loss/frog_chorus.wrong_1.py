"""Frog species from call features. A quarter of the field labels is wrong, so the costliest clips
of a batch are left out, more of them from epoch to epoch, and doubtful ones count less."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

N_SPECIES = 4


def fabricate(seed, n=640, n_features=16):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(N_SPECIES, n_features))
    species = rng.integers(0, N_SPECIES, n)
    calls = centres[species] + 0.7 * rng.normal(size=(n, n_features))
    noted = np.where(rng.random(n) < 0.25, rng.integers(0, N_SPECIES, n), species)
    trust = rng.choice([0.5, 1.0], size=n)
    columns = (calls.astype(np.float32), noted, species, trust.astype(np.float32))
    return [torch.from_numpy(column) for column in columns]


def build_net(n_features=16, width=32):
    return nn.Sequential(nn.Linear(n_features, width), nn.ReLU(), nn.Linear(width, N_SPECIES))


class SmallLossSchedule:
    """The share of a batch that is kept: all at first, then down to 1 - noise."""

    def __init__(self, noise=0.25, ramp=5):
        self.noise, self.ramp = noise, ramp

    def share(self, epoch):
        return 1.0 - self.noise * min(epoch / self.ramp, 1.0)

    def select(self, costs, epoch):
        n_kept = max(1, int(self.share(epoch) * len(costs)))
        return np.argsort(costs)[:n_kept]


def batch_loss(net, batch, schedule, epoch):
    calls, noted, trust = batch
    per_clip = F.cross_entropy(net(calls), noted, reduction="none")
    costs = per_clip.detach().numpy()
    kept = schedule.select(costs, epoch)
    weight = trust.numpy()[kept]
    picked = torch.from_numpy(costs[kept]).requires_grad_()
    return (torch.from_numpy(weight) * picked).sum() / float(weight.sum())


def accuracy(net, calls, species):
    with torch.no_grad():
        return (net(calls).argmax(dim=1) == species).float().mean().item()


def fit(net, data, epochs=8, batch=64, lr=0.02):
    calls, noted, species, trust = data
    optimizer = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    schedule = SmallLossSchedule()
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(calls)).split(batch):
            loss = batch_loss(net, (calls[rows], noted[rows], trust[rows]), schedule, epoch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / (len(calls) // batch):.4f}, right {accuracy(net, calls, species):.3f}")


if __name__ == "__main__":
    torch.manual_seed(17)
    fit(build_net(), fabricate(seed=3))
