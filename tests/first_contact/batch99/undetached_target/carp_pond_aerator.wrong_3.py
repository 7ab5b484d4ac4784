"""When to run the aerator of a carp pond: Q-learning from a replay of nights."""
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn

SETTINGS = [0.0, 0.5, 1.0]  # share of full power


class Pond(object):
    """Oxygen falls by night and with warmth; power costs, and fish under stress cost more."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.hour, self.oxygen = 0, self.rng.uniform(6.0, 8.0)
        self.warm = self.rng.uniform(0.0, 1.0)
        return self.state()

    def state(self):
        return np.array([(self.oxygen - 6.0) / 2.0, self.warm, np.cos(2 * np.pi * self.hour / 24),
                         np.sin(2 * np.pi * self.hour / 24)], dtype=np.float32)

    def step(self, action):
        power = SETTINGS[action]
        light = max(0.0, np.sin(2 * np.pi * (self.hour - 6) / 24))
        self.oxygen += 1.2 * light - 0.5 - 0.4 * self.warm + 0.9 * power + self.rng.normal(0, 0.1)
        self.oxygen = float(np.clip(self.oxygen, 0.0, 11.0))
        self.hour += 1
        reward = -0.3 * power - max(0.0, 4.5 - self.oxygen)
        return self.state(), reward, self.hour == 24


class QNet(nn.Module):
    def __init__(self):
        super(QNet, self).__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.value = nn.Linear(32, 1)
        self.advantage = nn.Linear(32, len(SETTINGS))

    def forward(self, s):
        h = self.body(s)
        a = self.advantage(h)
        return self.value(h) + a - a.mean(dim=1, keepdim=True)


class Keeper(object):
    def __init__(self, gamma=0.95, lr=2e-3):
        self.q = QNet()
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=lr)
        self.criterion = nn.SmoothL1Loss()
        self.memory = deque(maxlen=2000)
        self.gamma = gamma

    def choose(self, s, eps):
        if random.random() < eps:
            return random.randrange(len(SETTINGS))
        with torch.no_grad():
            return int(self.q(torch.from_numpy(s)[None]).argmax())

    def bootstrap(self, rewards, following, done):
        ahead = torch.zeros(len(following))
        return rewards + self.gamma * (1.0 - done) * ahead

    def learn(self, batch_size=48):
        batch = random.sample(self.memory, batch_size)
        s, a, r, s2, d = map(np.array, zip(*batch))
        s, s2 = torch.from_numpy(s), torch.from_numpy(s2)
        r, d = torch.tensor(r, dtype=torch.float32), torch.tensor(d, dtype=torch.float32)
        taken = self.q(s).gather(1, torch.from_numpy(a)[:, None]).squeeze(1)
        target = self.bootstrap(r, s2, d)
        loss = self.criterion(taken, target)
        self.optimizer.zero_grad()
        loss.backward()
        for p in self.q.parameters():
            p.grad.data.clamp_(-1, 1)
        self.optimizer.step()
        return loss.item()


def main():
    random.seed(36)
    torch.manual_seed(36)
    pond, keeper = Pond(seed=36), Keeper()
    for night in range(16):
        s, done, total, losses = pond.reset(), False, 0.0, []
        eps = max(0.1, 1.0 - night / 10)
        while not done:
            a = keeper.choose(s, eps)
            s2, r, done = pond.step(a)
            keeper.memory.append((s, a, r, s2, done))
            s, total = s2, total + r
            if len(keeper.memory) >= 96:
                losses.append(keeper.learn())
        if night % 5 == 0 and losses:
            print("night %d  eps %.2f  return %.2f  loss %.4f" % (night, eps, total, np.mean(losses)))


if __name__ == "__main__":
    main()
