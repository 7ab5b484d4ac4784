"""Off-policy control of the heating valve in a small greenhouse (toy thermal model)."""
import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 11
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


class Greenhouse:
    """inside temperature, outside temperature, hour of the day"""

    def reset(self):
        self.t_in, self.hour = 14.0, 0
        return self.obs()

    def t_out(self):
        return 6.0 + 5.0 * np.sin(2 * np.pi * (self.hour - 8) / 24)

    def obs(self):
        return np.array([(self.t_in - 18) / 5, (self.t_out() - 6) / 5, self.hour / 24], dtype=np.float32)

    def step(self, valve):
        self.t_in += 0.1 * (self.t_out() - self.t_in) + 2.0 * valve + np.random.normal(0, 0.1)
        self.hour += 1
        reward = -((self.t_in - 20.0) / 5) ** 2 - 0.2 * valve
        return self.obs(), float(reward), self.hour >= 24


def net(n_in, n_out, *last):
    return nn.Sequential(nn.Linear(n_in, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, n_out), *last)


def descend(optimizer, loss, clip=None):
    optimizer.zero_grad()
    loss.backward()
    if clip is not None:
        nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], clip)
    optimizer.step()
    return loss.item()


class Agent:
    gamma = 0.97
    tau = 0.02

    def __init__(self):
        self.actor = net(3, 1, nn.Sigmoid())
        self.critic = net(4, 1)
        self.actor_target = copy.deepcopy(self.actor)
        self.critic_target = copy.deepcopy(self.critic)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=2e-3)
        self.memory = deque(maxlen=2000)

    def act(self, obs, sigma):
        with torch.no_grad():
            a = self.actor(torch.from_numpy(obs)).item()
        return float(np.clip(a + np.random.normal(0, sigma), 0.0, 1.0))

    def sample(self, n):
        s, a, r, s2, d = zip(*random.sample(self.memory, n))
        return (torch.tensor(np.array(s)), torch.tensor(a).unsqueeze(1), torch.tensor(r).unsqueeze(1),
                torch.tensor(np.array(s2)), torch.tensor(d, dtype=torch.float32).unsqueeze(1))

    def q(self, critic, s, a):
        return critic(torch.cat([s, a], dim=1))

    def learn(self, batch_size=32):
        s, a, r, s2, d = self.sample(batch_size)
        with torch.no_grad():
            y = r + self.gamma * (1 - d) * self.q(self.critic_target, s2, self.actor_target(s2))

        critic_loss = F.smooth_l1_loss(self.q(self.critic, s, a), y)
        actor_loss = -self.q(self.critic, s, self.actor(s)).mean()

        stats = {}
        stats["actor"] = descend(self.actor_opt, actor_loss)
        stats["critic"] = descend(self.critic_opt, critic_loss, clip=5.0)

        with torch.no_grad():
            for live, slow in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
                for p, q in zip(live.parameters(), slow.parameters()):
                    q.lerp_(p, self.tau)
        return stats


env, agent = Greenhouse(), Agent()
for episode in range(3):
    obs, total, done, stats = env.reset(), 0.0, False, None
    while not done:
        valve = agent.act(obs, sigma=0.2)
        nxt, reward, done = env.step(valve)
        agent.memory.append((obs, valve, reward, nxt, done))
        obs, total = nxt, total + reward
        if len(agent.memory) >= 32:
            stats = agent.learn()
    print(episode, round(total, 2), stats)
