"""Fuel of ships from the log of a voyage; a GRU reads all of it, each leg is then a step."""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

HOURS, LEG = 36, 12


class FuelNet(nn.Module):
    def __init__(self, n_in=4, width=16):
        super().__init__()
        self.reader = nn.GRU(n_in, width, batch_first=True)
        self.heads = nn.ModuleDict({"mean": nn.Linear(width, 1), "spread": nn.Linear(width, 1)})

    def read(self, log):
        track, _ = self.reader(log)
        return track

    def burn(self, leg):
        mean = self.heads["mean"](leg).squeeze(-1)
        var = F.softplus(self.heads["spread"](leg)).squeeze(-1) + 1e-3
        return mean, var


def voyages(n, rng):
    log = rng.normal(size=(n, HOURS, 4)).astype(np.float32)
    speed, wind = log[..., 0], log[..., 1]
    fuel = 0.5 * speed**2 + 0.3 * np.cumsum(wind, 1) / np.sqrt(np.arange(1, HOURS + 1))
    return torch.from_numpy(log), torch.from_numpy(fuel.astype(np.float32))


def train(net, opt, log, fuel, epochs=3):
    for epoch in range(epochs):
        total = 0.0
        for ships in torch.randperm(len(log)).split(10):
            track = net.read(log[ships])
            legs = track.split(LEG, dim=1)
            burnt = fuel[ships].split(LEG, dim=1)
            losses = []
            for leg, truth in zip(legs, burnt):
                mean, var = net.burn(leg)
                losses.append(F.gaussian_nll_loss(mean, truth, var))
            loss = sum(losses)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch}: {total:.3f}")


torch.manual_seed(3)
log, fuel = voyages(30, np.random.default_rng(3))
net = FuelNet()
train(net, torch.optim.Adam(net.parameters(), lr=3e-3), log, fuel)
