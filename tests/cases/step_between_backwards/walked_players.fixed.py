"""Players of a congestion game: each one's regret depends on the moves of all."""
import torch
from torch import nn

PLAYERS, ROADS = 3, 5


class Player:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, ROADS))
        self.optimizer = torch.optim.SGD(self.policy.parameters(), lr=0.2)


def play(players, weather):
    moves = torch.stack([p.policy(weather).softmax(dim=-1) for p in players])
    load = moves.sum(dim=0)
    return [(move * load).sum() for move in moves]


def update(players, regrets):
    turns = iter(zip(players, regrets))
    while True:
        try:
            player, regret = next(turns)
        except StopIteration:
            break
        player.optimizer.zero_grad()
        regret.backward(inputs=list(player.policy.parameters()), retain_graph=True)
    for player in players:
        player.optimizer.step()


torch.manual_seed(8)
players = [Player() for _ in range(PLAYERS)]
for day in range(4):
    regrets = play(players, torch.randn(2))
    update(players, regrets)
    print(day, [round(regret.item(), 3) for regret in regrets])
