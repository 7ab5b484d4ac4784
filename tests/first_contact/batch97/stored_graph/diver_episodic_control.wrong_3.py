"""Neural episodic control for a cave-diving robot on a small flooded grid.

Each action has a table of (key, return) pairs; Q is the kernel average over the nearest keys.
"""
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F

Transition = namedtuple("Transition", "obs action target")
MOVES = [(0, 1), (1, 0), (0, -1), (-1, 0)]
ROCK = {(1, 1), (1, 2), (3, 1), (3, 3), (2, 3)}
EXIT = (4, 4)
GAMMA, HORIZON, NEIGHBOURS = 0.95, 4, 5


class Cave:
    size = 5

    def reset(self):
        self.at, self.air = (0, 0), 25
        return self.obs()

    def obs(self):
        plan = torch.zeros(self.size, self.size)
        plan[self.at] = 1.0
        return torch.cat([plan.flatten(), torch.tensor([self.air / 25])])

    def step(self, action):
        x, y = self.at[0] + MOVES[action][0], self.at[1] + MOVES[action][1]
        self.air -= 1
        inside = 0 <= x < self.size and 0 <= y < self.size and (x, y) not in ROCK
        if inside:
            self.at = (x, y)
        found = self.at == EXIT
        return self.obs(), (1.0 if found else -0.02), found or self.air == 0


class Table:
    """Differentiable lookup for one action."""

    def __init__(self, room=120):
        self.keys = deque(maxlen=room)
        self.values = deque(maxlen=room)

    def __len__(self):
        return len(self.keys)

    def write(self, key, value):
        self.keys.append(key)
        self.values.append(value)

    def lookup(self, h):
        if not self.keys:
            return h.new_zeros(h.shape[0])
        keys = torch.stack(list(self.keys)).detach()
        values = torch.tensor(list(self.values))
        gap = (h[:, None] - keys[None]).pow(2).sum(-1)
        near = gap.topk(min(NEIGHBOURS, len(self.keys)), largest=False)
        weight = 1 / (near.values + 1e-2)
        return (weight * values[near.indices]).sum(1) / weight.sum(1)


class Agent:
    def __init__(self):
        self.embed = nn.Sequential(nn.Linear(26, 32), nn.ReLU(), nn.Linear(32, 6))
        self.tables = [Table() for _ in MOVES]
        self.replay = deque(maxlen=500)
        self.opt = torch.optim.RMSprop(self.embed.parameters(), lr=1e-3)

    def q(self, h):
        return torch.stack([t.lookup(h) for t in self.tables], 1)

    def act(self, obs, eps):
        h = self.embed(obs[None])
        scores = self.q(h)[0]
        action = random.randrange(4) if random.random() < eps else int(scores.argmax())
        return action, h[0], scores.max().item()

    def finish(self, trail, rewards, bests):
        """N-step returns, bootstrapped with the best Q met at the time."""
        for i, (obs, action, h) in enumerate(trail):
            last = min(i + HORIZON, len(trail))
            target = sum(GAMMA ** (k - i) * rewards[k] for k in range(i, last))
            if last < len(trail):
                target += GAMMA ** (last - i) * bests[last]
            self.tables[action].write(h, target)
            self.replay.append(Transition(obs, action, target))

    def update(self, size=16):
        batch = random.sample(list(self.replay), size)
        obs = torch.stack([b.obs for b in batch])
        actions = torch.tensor([b.action for b in batch])
        wanted = torch.tensor([b.target for b in batch])
        with torch.no_grad():
            h = self.embed(obs)
        got = self.q(h).gather(1, actions[:, None]).squeeze(1)
        loss = F.mse_loss(got, wanted)
        self.opt.zero_grad()
        loss.requires_grad_()
        loss.backward()
        self.opt.step()
        return loss.item()


random.seed(12)
torch.manual_seed(12)
cave, agent = Cave(), Agent()
for episode in range(14):
    obs, done, trail, rewards, bests = cave.reset(), False, [], [], []
    while not done:
        action, h, best = agent.act(obs, eps=max(0.1, 1 - episode / 8))
        trail.append((obs, action, h))
        bests.append(best)
        obs, reward, done = cave.step(action)
        rewards.append(reward)
    agent.finish(trail, rewards, bests)
    losses = [agent.update() for _ in range(4)]
    print(f"dive {episode:2d} steps {len(trail):2d} return {sum(rewards):+.2f} "
          f"loss {sum(losses) / 4:.4f} keys {[len(t) for t in agent.tables]}")
