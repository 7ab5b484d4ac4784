"""A league for a bluffing duel: the champion trains against frozen copies of itself."""
import copy
import random

import torch
from torch.nn import functional as F

MOVES = ("charge", "guard", "feint", "wait")
# payoff for the row player
PAYOFF = torch.tensor([
    [0.0, -1.0, 1.0, 1.0],
    [1.0, 0.0, -1.0, 0.0],
    [-1.0, 1.0, 0.0, 0.5],
    [-1.0, 0.0, -0.5, 0.0],
])


class Duelist(torch.nn.Module):
    def __init__(self, name, senses=5, width=16):
        super().__init__()
        self.name = name
        self.eyes = torch.nn.Linear(senses, width)
        self.hand = torch.nn.Linear(width, len(MOVES))
        self.habit = None        # average move mix of the last round, for the report
        self.rounds = 0

    def forward(self, scene):
        mix = F.softmax(self.hand(torch.tanh(self.eyes(scene))), dim=1)
        self.habit = mix.mean(0).detach()
        self.rounds += 1
        return mix


class League:
    def __init__(self, size=4):
        self.bench = []
        self.size = size

    def enrol(self, player):
        veteran = copy.deepcopy(player)
        veteran.name = f"{player.name}-{player.rounds}"
        veteran.requires_grad_(False)
        self.bench.append(veteran)
        self.bench = self.bench[-self.size:]

    def draw(self, rng):
        return rng.choice(self.bench)


def duel(one, other, scene):
    return torch.einsum("bi,ij,bj->b", one(scene), PAYOFF, other(scene))


def main():
    torch.manual_seed(30)
    rng = random.Random(30)
    champion = Duelist("champion")
    opt = torch.optim.Adam(champion.parameters(), lr=0.02)
    league = League()
    league.enrol(champion)

    for season in range(5):
        for bout in range(8):
            scene = torch.randn(32, 5)
            rival = league.draw(rng)
            gain = duel(champion, rival, scene).mean()
            entropy = -(champion.habit * champion.habit.clamp_min(1e-8).log()).sum().item()
            opt.zero_grad()
            (-gain).backward()
            opt.step()
        mix = ", ".join(f"{m} {p:.2f}" for m, p in zip(MOVES, champion.habit.tolist()))
        print(f"season {season}: gain {gain.item():+.3f}, entropy {entropy:.3f} ({mix})")
        league.enrol(champion)


main()
