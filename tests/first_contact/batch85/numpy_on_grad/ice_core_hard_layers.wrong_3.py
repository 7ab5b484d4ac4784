"""Annual layers in ice cores: a dating network that is shown its hard stretches more often."""
import numpy as np
import torch
from torch import nn


class HardSampler:
    """Draws stretches in proportion to a running mean of their losses, plus a floor."""

    def __init__(self, count, rng, momentum=0.7, floor=0.1):
        self.hardness = np.ones(count)
        self.rng, self.momentum, self.floor = rng, momentum, floor

    def probabilities(self):
        weights = self.hardness + self.floor * self.hardness.mean()
        return weights / weights.sum()

    def draw(self, size):
        p = self.probabilities()
        chosen = self.rng.choice(len(p), size, replace=False, p=p)
        importance = 1 / (len(p) * p[chosen])
        return chosen, (importance / importance.max()).astype(np.float32)

    def report(self, chosen, losses):
        old = self.hardness[chosen]
        self.hardness[chosen] = self.momentum * old + (1 - self.momentum) * np.asarray(losses)


class LayerCounter(nn.Module):
    def __init__(self, channels=2, width=12):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(channels, width, 5, padding=2), nn.GELU(),
            nn.Conv1d(width, width, 5, padding=4, dilation=2), nn.GELU(),
            nn.Conv1d(width, 1, 1),
        )

    def forward(self, x):
        return nn.functional.softplus(self.net(x)).sum(dim=(1, 2))


def core(stretches, samples, rng):
    """Dust and conductivity against depth, with layers that thin towards the bottom."""
    depth = np.arange(samples) / samples
    years = rng.uniform(3, 12, stretches)
    phase = 2 * np.pi * years[:, None] * depth[None] ** rng.uniform(0.9, 1.2, (stretches, 1))
    dust = np.sin(phase) + 0.2 * rng.standard_normal(phase.shape)
    salt = np.cos(phase) + 0.4 * rng.standard_normal(phase.shape)
    return torch.tensor(np.stack([dust, salt], 1), dtype=torch.float32), torch.tensor(years, dtype=torch.float32)


class Dating:
    def __init__(self, stretches=60, seed=8):
        torch.manual_seed(seed)
        rng = np.random.default_rng(seed)
        self.x, self.years = core(stretches, 64, rng)
        self.sampler = HardSampler(stretches, rng)
        self.net = LayerCounter()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=4e-3)
        self.log = []

    def train_batch(self, size=16):
        chosen, importance = self.sampler.draw(size)
        index = torch.from_numpy(chosen)
        counted = self.net(self.x[index])
        losses = nn.functional.smooth_l1_loss(counted, self.years[index], reduction="none").detach()
        self.sampler.report(chosen, losses)
        losses.requires_grad_()
        loss = (torch.from_numpy(importance) * losses).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def error(self):
        with torch.no_grad():
            return (self.net(self.x) - self.years).abs().mean().item()

    def fit(self, epochs=6, batches=8):
        for epoch in range(epochs):
            mean = np.mean([self.train_batch() for _ in range(batches)])
            spread = self.sampler.probabilities().max() * len(self.years)
            self.log.append((epoch, mean, self.error()))
            print(f"epoch {epoch}: loss {mean:.3f}, off by {self.log[-1][2]:.2f} years, hardest drawn x{spread:.1f}")


if __name__ == "__main__":
    Dating().fit()
