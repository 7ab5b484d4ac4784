# expect: pattern = deepcopy-nonleaf
# expect: raises = RuntimeError: Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol
# expect: carrier = self.last_q, last_q, agent
"""Q-learning for choosing a parking level; the target agent is a snapshot taken every few updates."""
import copy

import torch
import torch.nn as nn


class Agent:
    def __init__(self, levels=4):
        self.q = nn.Sequential(nn.Linear(levels + 1, 24), nn.ReLU(), nn.Linear(24, levels))
        self.last_q = None
        self.greed = 0.7

    def values(self, s):
        self.last_q = self.q(s)  # expect: place
        return self.last_q

    def choose(self, s):
        best = self.values(s).argmax(1)
        other = torch.randint(self.q[-1].out_features, best.shape)
        return torch.where(torch.rand(len(s)) < self.greed, best, other)

    def confidence(self):
        return self.last_q.softmax(1).max(1).values.mean().item()


def arrivals(n, levels=4):
    return torch.cat([torch.rand(n, levels), torch.rand(n, 1)], 1)


def reward(s, a):
    free = s.gather(1, a[:, None]).squeeze(1)
    return free - 0.2 * a * s[:, -1]


def main(updates=12, every=4):
    torch.manual_seed(71)
    agent = Agent()
    target = copy.deepcopy(agent)
    opt = torch.optim.Adam(agent.q.parameters(), lr=5e-3)
    for u in range(updates):
        s, s2 = arrivals(20), arrivals(20)
        a = agent.choose(s)
        with torch.no_grad():
            goal = reward(s, a) + 0.8 * target.values(s2).max(1).values
        error = agent.values(s).gather(1, a[:, None]).squeeze(1) - goal
        opt.zero_grad()
        error.pow(2).mean().backward()
        opt.step()
        if (u + 1) % every == 0:
            target = copy.deepcopy(agent)  # expect: place
            print(u + 1, "confidence", round(agent.confidence(), 3))


if __name__ == "__main__":
    main()
