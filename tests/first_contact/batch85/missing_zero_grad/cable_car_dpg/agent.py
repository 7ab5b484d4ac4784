import copy
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


class Actor(nn.Module):
    def __init__(self, n_state, hidden=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_state, hidden), nn.ReLU(), nn.Linear(hidden, 1), nn.Tanh())

    def forward(self, s):
        return self.net(s)


class Critic(nn.Module):
    def __init__(self, n_state, hidden=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_state + 1, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, s, a):
        return self.net(torch.cat([s, a], dim=1))


class DDPG:
    def __init__(self, n_state, gamma=0.95, tau=0.05, batch=32):
        self.actor, self.critic = Actor(n_state), Critic(n_state)
        self.actor_target = copy.deepcopy(self.actor).requires_grad_(False)
        self.critic_target = copy.deepcopy(self.critic).requires_grad_(False)
        self.actor_optim = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=3e-3)
        self.memory = deque(maxlen=2000)
        self.gamma, self.tau, self.batch = gamma, tau, batch

    @torch.no_grad()
    def act(self, state, noise=0.0):
        return (self.actor(state[None])[0, 0] + noise * torch.randn(())).clamp(-1, 1)

    def push(self, state, action, reward, after, done):
        self.memory.append((state, action.view(1), reward.view(1), after, torch.tensor([float(done)])))

    def update(self):
        if len(self.memory) < self.batch:
            return None
        s, a, r, s2, d = (torch.stack(column) for column in zip(*random.sample(self.memory, self.batch)))

        with torch.no_grad():
            y = r + self.gamma * (1 - d) * self.critic_target(s2, self.actor_target(s2))
        critic_loss = F.mse_loss(self.critic(s, a), y)
        critic_loss.backward()  # expect: place
        self.critic_optim.step()  # expect: place
        self.critic_optim.zero_grad()  # expect: place

        actor_loss = -self.critic(s, self.actor(s)).mean()  # expect: place
        actor_loss.backward()  # expect: place
        self.actor_optim.step()
        self.actor_optim.zero_grad()

        self._follow(self.actor_target, self.actor)
        self._follow(self.critic_target, self.critic)
        return critic_loss.item(), actor_loss.item()

    @torch.no_grad()
    def _follow(self, slow, fast):
        for p, q in zip(slow.parameters(), fast.parameters()):
            p.mul_(1 - self.tau).add_(q, alpha=self.tau)
