# expect: pattern = missing-zero-grad
# expect: carrier = model_opt, self.model_opt, world
"""Learn a world model of a harbour crane from logged swings, and a controller inside its dreams."""
from collections import deque
import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class Crane:
    """Trolley with a swinging load; the action pushes the trolley."""

    def reset(self):
        self.s = 0.3 * torch.randn(4)
        return self.s

    def step(self, action):
        x, v, th, om = self.s
        acc = 2.0 * float(action) - 0.5 * v
        self.s = torch.stack([x + 0.1 * v, v + 0.1 * acc, th + 0.1 * om, om - 0.1 * (th + 0.4 * acc)])
        return self.s, -(self.s[0] ** 2 + 2 * self.s[2] ** 2)


class WorldModel(nn.Module):
    def __init__(self, obs=4, act=1, deter=20):
        super().__init__()
        self.deter = deter
        self.encode = nn.Sequential(nn.Linear(obs, 16), nn.ELU())
        self.observe = nn.Linear(16 + deter, deter)
        self.core = nn.GRUCell(act, deter)
        self.decode = nn.Linear(deter, obs)
        self.reward = nn.Sequential(nn.Linear(deter, 16), nn.ELU(), nn.Linear(16, 1))

    def dream_step(self, h, action):
        return self.core(action, h)

    def forward(self, obs, actions):
        h = obs.new_zeros(obs.size(0), self.deter)
        states = []
        for t in range(obs.size(1)):
            h = torch.tanh(self.observe(torch.cat([self.encode(obs[:, t]), h], -1)))
            states.append(h)
            h = self.dream_step(h, actions[:, t])
        return torch.stack(states, 1)


class Dreamer:
    def __init__(self, horizon=5, gamma=0.95):
        self.horizon, self.gamma = horizon, gamma
        self.world = WorldModel()
        self.actor = nn.Sequential(nn.Linear(20, 16), nn.ELU(), nn.Linear(16, 1), nn.Tanh())
        self.model_opt = torch.optim.Adam(self.world.parameters(), lr=3e-3, eps=1e-5)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3, eps=1e-5)

    def learn_world(self, obs, actions, rewards):
        states = self.world(obs, actions)
        loss = F.mse_loss(self.world.decode(states), obs)
        loss = loss + F.mse_loss(self.world.reward(states).squeeze(-1), rewards)
        loss.backward()  # expect: place
        nn.utils.clip_grad_norm_(self.world.parameters(), 10.0)
        self.model_opt.step()
        self.model_opt.zero_grad()  # expect: place
        return states.detach(), loss.item()

    def learn_behaviour(self, start):
        h = start.flatten(0, 1)
        total, discount = 0.0, 1.0
        for _ in range(self.horizon):
            h = self.world.dream_step(h, self.actor(h))
            total = total + discount * self.world.reward(h)
            discount *= self.gamma
        actor_loss = -total.mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()  # expect: place
        nn.utils.clip_grad_norm_(self.actor.parameters(), 10.0)
        self.actor_opt.step()
        return actor_loss.item()

    @torch.no_grad()
    def act(self, h, obs, noise=0.3):
        h = torch.tanh(self.world.observe(torch.cat([self.world.encode(obs[None]), h], -1)))
        a = (self.actor(h) + noise * torch.randn(1, 1)).clamp(-1, 1)
        return self.world.dream_step(h, a), a


def collect(agent, env, length=12):
    obs, h, rows = env.reset(), torch.zeros(1, 20), []
    for _ in range(length):
        h, a = agent.act(h, obs)
        nxt, r = env.step(a)
        rows.append((obs, a[0], r))
        obs = nxt
    return [torch.stack(column) for column in zip(*rows)]


def main():
    torch.manual_seed(6)
    random.seed(6)
    agent, env, replay = Dreamer(), Crane(), deque(maxlen=50)
    for _ in range(4):
        replay.append(collect(agent, env))
    for episode in range(8):
        for _ in range(2):
            obs, actions, rewards = (torch.stack(c) for c in zip(*random.sample(replay, 4)))
            states, model_loss = agent.learn_world(obs, actions, rewards)
            actor_loss = agent.learn_behaviour(states)
        replay.append(collect(agent, env))
        print(f"episode {episode}: world {model_loss:.3f} actor {actor_loss:+.3f} return {replay[-1][2].sum():+.2f}")


if __name__ == "__main__":
    main()
