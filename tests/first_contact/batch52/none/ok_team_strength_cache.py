# expect: pattern = none
# expect: raises = nothing
"""Team ratings (hierarchical Bradley-Terry): strengths are derived from player parameters, cached
while a match day is scored, and dropped whenever the optimizer moves the parameters."""
from functools import cached_property

import torch
from torch import nn
from torch.nn import functional as F

TEAMS, SQUAD, TRAITS = 8, 6, 4


class League(nn.Module):
    def __init__(self, traits):
        super().__init__()
        self.register_buffer("traits", traits)  # (teams, squad, traits)
        self.skill = nn.Sequential(nn.Linear(TRAITS, 8), nn.Tanh(), nn.Linear(8, 1))
        self.chemistry = nn.Parameter(torch.zeros(TEAMS))
        self.home = nn.Parameter(torch.zeros(()))

    @cached_property
    def strength(self):
        """one number a team; every fixture of the day shares it"""
        players = self.skill(self.traits).squeeze(-1)
        best = players.topk(4, dim=1).values
        return best.mean(1) + self.chemistry - self.chemistry.mean()

    def drop_cache(self, *_):
        self.__dict__.pop("strength", None)

    def forward(self, home, away):
        return self.strength[home] - self.strength[away] + self.home


def schedule():
    """round robin by the circle method"""
    order = list(range(TEAMS))
    for day in range(TEAMS - 1):
        half = TEAMS // 2
        pairs = list(zip(order[:half], reversed(order[half:])))
        yield [pair if day % 2 else pair[::-1] for pair in pairs]
        order = [order[0], order[-1], *order[1:-1]]


def simulate(traits):
    weights = torch.tensor([0.9, -0.4, 0.5, 0.0])
    truth = (traits @ weights).topk(4, dim=1).values.mean(1)
    season = []
    for pairs in schedule():
        home, away = torch.tensor(pairs).T
        p = torch.sigmoid(3 * (truth[home] - truth[away]) + 0.3)
        season.append((home, away, torch.bernoulli(p)))
    return season, truth


def main():
    torch.manual_seed(64)
    traits = torch.randn(TEAMS, SQUAD, TRAITS)
    season, truth = simulate(traits)
    league = League(traits)
    optimizer = torch.optim.Adam(league.parameters(), lr=0.02)
    optimizer.register_step_post_hook(league.drop_cache)
    for pas in range(5):
        total = 0.0
        for home, away, result in season:
            fixtures = [
                F.binary_cross_entropy_with_logits(league(h, a), r)
                for h, a, r in zip(home, away, result)
            ]
            loss = sum(fixtures) / len(fixtures) + 1e-3 * league.strength.square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        with torch.no_grad():
            order = torch.corrcoef(torch.stack([league.strength, truth]))[0, 1]
        league.drop_cache()
        print(f"pass {pas}: log loss {total / len(season):.4f}, correlation with truth {order:.3f}")


if __name__ == "__main__":
    main()
