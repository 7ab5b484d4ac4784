"""Bearing faults of a wind turbine from three sensors; the branches should not learn the same."""
import itertools

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SENSORS = ("nacelle", "gearbox", "generator")


def fabricate(rng, n=384, samples=32):
    kind = rng.integers(0, 3, n)
    time = np.linspace(0.0, 1.0, samples)
    pitch = np.array([3.0, 5.0, 8.0])[kind]
    waves = {}
    for shift, sensor in enumerate(SENSORS):
        wave = np.sin(2 * np.pi * pitch[:, None] * time + 0.4 * shift)
        waves[sensor] = torch.tensor(wave + 0.8 * rng.normal(size=wave.shape), dtype=torch.float32)
    return waves, torch.tensor(kind)


class Branch(nn.Module):
    def __init__(self, samples, width):
        super().__init__()
        self.proj = nn.Linear(samples, width)
        self.mix = nn.Linear(width, width)

    def forward(self, wave):
        return torch.relu(self.mix(torch.relu(self.proj(wave))))


class FaultNet(nn.Module):
    def __init__(self, samples=32, width=12):
        super().__init__()
        self.branches = nn.ModuleDict({sensor: Branch(samples, width) for sensor in SENSORS})
        self.verdict = nn.Linear(len(SENSORS) * width, 3)

    def forward(self, waves):
        return self.verdict(torch.cat([self.branches[s](waves[s]) for s in SENSORS], dim=1))


def weights_under(module, prefix):
    kept = [value for key, value in module.named_parameters()
            if key.startswith(prefix) and key.endswith("weight")]
    return torch.cat([value.flatten() for value in kept])


def overlap(branches, prefix="proj"):
    """Mean squared cosine between the first layers of every two branches."""
    bank = {name: weights_under(branch, prefix) for name, branch in branches.items()}
    pairs = itertools.combinations(bank, 2)
    cosines = [F.cosine_similarity(bank[a], bank[b], dim=0) for a, b in pairs]
    return torch.stack(cosines).square().mean()


def align(branches):
    """All sensors start from the first one's weights, slightly shaken."""
    first = next(iter(branches.values()))
    for branch in list(branches.values())[1:]:
        branch.load_state_dict(first.state_dict())
        with torch.no_grad():
            for parameter in branch.parameters():
                parameter.add_(0.01 * torch.randn_like(parameter))


def main(rounds=6, batch=64, strength=2.0):
    torch.manual_seed(2)
    waves, kind = fabricate(np.random.default_rng(8))
    net = FaultNet()
    align(net.branches)
    optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
    for number in range(rounds):
        for rows in torch.randperm(len(kind)).split(batch):
            logits = net({sensor: wave[rows] for sensor, wave in waves.items()})
            term = overlap(net.branches)
            loss = F.cross_entropy(logits, kind[rows]) + strength * term
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"round {number}: loss {loss.item():.3f}, overlap {term.item():.3f}")


if __name__ == "__main__":
    main()
