# expect: pattern = growing-history
# expect: also = stored-graph
# expect: raises = nothing
# expect: carrier = path, self.path, table, strengths
"""Who fences best? Strengths from the bouts of a season, with the path that each one took."""
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn


class BradleyTerry(nn.Module):
    """Strengths come out of a skill, a weapon hand and an age curve; they sum to nothing."""

    def __init__(self, fencers, covariates):
        super().__init__()
        self.skill = nn.Parameter(torch.zeros(fencers))
        self.curve = nn.Sequential(nn.Linear(covariates, 8), nn.Tanh(), nn.Linear(8, 1))

    def strengths(self, covariates):
        raw = self.skill + self.curve(covariates).squeeze(-1)
        return raw - raw.mean()

    def forward(self, covariates, left, right):
        s = self.strengths(covariates)
        return s[left] - s[right]


class Listener:
    def weekend(self, season):
        pass

    def finish(self, season):
        pass


@dataclass
class StrengthPath(Listener):
    """After every weekend the whole table is kept, for the picture in the yearbook."""

    path: list = field(default_factory=list)

    def weekend(self, season):
        table = season.model.strengths(season.covariates)  # expect: place
        self.path.append(table)  # expect: place

    def finish(self, season):
        best = self.path[-1].topk(3).indices
        for fencer in best.tolist():
            print(fencer, [round(t[fencer].item(), 2) for t in self.path[::6]])


@dataclass
class Plain(Listener):
    every: int = 6

    def weekend(self, season):
        if season.weekends % self.every == 0:
            print(season.weekends, round(season.loss, 4))


class Season:
    def __init__(self, fencers=12, listeners=()):
        self.truth = torch.randn(fencers)
        self.covariates = torch.stack([self.truth + torch.randn(fencers), torch.rand(fencers)], 1)
        self.model = BradleyTerry(fencers, 2)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=0.05)
        self.listeners = listeners
        self.weekends, self.loss = 0, float("nan")

    def bouts(self, count=40):
        left, right = torch.randint(0, len(self.truth), (2, count))
        won = torch.bernoulli(torch.sigmoid(self.truth[left] - self.truth[right]))
        return left, right, won

    def run(self, weekends):
        for _ in range(weekends):
            left, right, won = self.bouts()
            loss = F.binary_cross_entropy_with_logits(self.model(self.covariates, left, right), won)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.loss, self.weekends = loss.item(), self.weekends + 1
            for listener in self.listeners:
                listener.weekend(self)
        for listener in self.listeners:
            listener.finish(self)


if __name__ == "__main__":
    torch.manual_seed(43)
    Season(listeners=[Plain(), StrengthPath()]).run(24)
