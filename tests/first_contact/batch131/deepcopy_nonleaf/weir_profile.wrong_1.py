"""Shape the crest of a side weir so that its outflow follows a wanted curve."""
import copy
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Proposal:
    step: int
    crest: torch.Tensor
    misfit: float
    notes: dict = field(default_factory=dict)

    def volume(self):
        return float(self.crest.sum())


class Crest(nn.Module):
    """Heights along the weir, monotone by construction."""

    def __init__(self, n_points=24):
        super().__init__()
        self.raw = nn.Parameter(torch.full((n_points,), -3.0))
        self.base = nn.Parameter(torch.tensor(0.2))

    def forward(self):
        return self.base + torch.cumsum(F.softplus(self.raw), dim=0)


def outflow(crest, level):
    head = F.softplus(12.0 * (level[:, None] - crest[None, :])) / 12.0
    return (1.7 * head.pow(1.5)).mean(dim=1)


def wanted_curve(seed):
    rng = np.random.default_rng(seed)
    level = np.linspace(0.1, 2.0, 40)
    flow = 0.9 * level**1.8 + 0.01 * rng.normal(size=level.shape)
    return torch.tensor(level, dtype=torch.float32), torch.tensor(flow, dtype=torch.float32)


class Search:
    def __init__(self, level, flow, lr=0.03, settle=15):
        self.level, self.flow = level, flow
        self.shape = Crest()
        self.optimizer = torch.optim.Adam(self.shape.parameters(), lr=lr)
        self.settle = settle
        self.best = None

    def propose(self, step):
        crest = self.shape().detach().requires_grad_()
        misfit = F.mse_loss(outflow(crest, self.level), self.flow)
        roughness = crest.diff().diff().square().sum()
        proposal = Proposal(step, crest, misfit.item(), {"roughness": roughness.item()})
        return proposal, misfit + 0.5 * roughness

    def remember(self, proposal):
        if proposal.step < self.settle:
            return
        if self.best is None or proposal.misfit < self.best.misfit:
            self.best = copy.deepcopy(proposal)

    def run(self, n_steps):
        for step in range(n_steps):
            proposal, loss = self.propose(step)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.remember(proposal)
        return self.best


def main():
    torch.manual_seed(0)
    best = Search(*wanted_curve(seed=13)).run(n_steps=120)
    print(f"best at step {best.step}: misfit {best.misfit:.5f}, volume {best.volume():.2f}, {best.notes}")


if __name__ == "__main__":
    main()
