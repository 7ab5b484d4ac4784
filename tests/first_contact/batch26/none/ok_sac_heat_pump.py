# expect: pattern = none
"""Soft actor-critic for a heat pump in a toy house, all in one file."""
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

LOG_STD_MIN, LOG_STD_MAX = -5, 2


class House:
    def reset(self):
        self.t, self.inside, self.outside = 0, 19.0, 3.0
        return self._obs()

    def _obs(self):
        return np.array([self.inside - 20, self.outside / 10, np.sin(self.t / 4)], dtype=np.float32)

    def step(self, power):
        self.t += 1
        self.outside = 3 + 4 * np.sin(self.t / 4)
        self.inside += 0.1 * (self.outside - self.inside) + 2.5 * (power + 1) / 2
        return self._obs(), -abs(self.inside - 20) - 0.2 * (power + 1), self.t >= 24


class Critic(nn.Module):
    def __init__(self, obs, act, hid=32):
        super().__init__()
        self.q1 = nn.Sequential(nn.Linear(obs + act, hid), nn.ReLU(inplace=True), nn.Linear(hid, 1))
        self.q2 = nn.Sequential(nn.Linear(obs + act, hid), nn.ReLU(inplace=True), nn.Linear(hid, 1))

    def forward(self, s, a):
        sa = torch.cat([s, a], 1)
        return self.q1(sa), self.q2(sa)


class Actor(nn.Module):
    def __init__(self, obs, act, hid=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs, hid), nn.ReLU(inplace=True))
        self.mean, self.log_std = nn.Linear(hid, act), nn.Linear(hid, act)

    def sample(self, s):
        h = self.trunk(s)
        std = self.log_std(h).clamp(LOG_STD_MIN, LOG_STD_MAX).exp()
        dist = Normal(self.mean(h), std)
        u = dist.rsample()
        a = torch.tanh(u)
        log_prob = dist.log_prob(u) - torch.log(1 - a.pow(2) + 1e-6)
        return a, log_prob.sum(1, keepdim=True)


class SAC:
    def __init__(self, obs=3, act=1, lr=1e-3):
        self.actor, self.critic, self.target = Actor(obs, act), Critic(obs, act), Critic(obs, act)
        self.target.load_state_dict(self.critic.state_dict())
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr)
        self.gamma, self.tau, self.h_target = 0.98, 0.02, -float(act)

    def update(self, batch):
        s, a, r, s2, d = map(torch.as_tensor, (np.stack(x) for x in zip(*batch)))
        alpha = self.log_alpha.exp()
        with torch.no_grad():
            a2, logp2 = self.actor.sample(s2)
            y = r + self.gamma * (1 - d) * (torch.min(*self.target(s2, a2)) - alpha * logp2)
        q1, q2 = self.critic(s, a)
        critic_loss = F.mse_loss(q1, y) + F.mse_loss(q2, y)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        # the critic collects gradients here as well; its zero_grad comes before its next backward
        pi, logp = self.actor.sample(s)
        actor_loss = (alpha.detach() * logp - torch.min(*self.critic(s, pi))).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        alpha_loss = -(alpha * (logp.detach() + self.h_target)).mean()
        self.alpha_opt.zero_grad()
        alpha_loss.backward()
        self.alpha_opt.step()

        for p, tp in zip(self.critic.parameters(), self.target.parameters()):
            tp.data.mul_(1 - self.tau)
            tp.data.add_(self.tau * p.data)
        return critic_loss.item(), actor_loss.item()


random.seed(1); np.random.seed(1); torch.manual_seed(1)
env, agent, memory = House(), SAC(), deque(maxlen=500)
for episode in range(4):
    s, ret, done, logs = env.reset(), 0.0, False, []
    while not done:
        with torch.no_grad():
            a = agent.actor.sample(torch.as_tensor(s)[None])[0][0]
        s2, r, done = env.step(a.item())
        memory.append((s, a.numpy(), np.float32([r]), s2, np.float32([done])))
        s, ret = s2, ret + r
        if len(memory) > 20:
            logs.append(agent.update(random.sample(memory, 16)))
    print(episode, round(ret, 2), np.round(np.mean(logs, axis=0), 3))
