"""Feed speed of a saw: deep deterministic policy gradient. The actor's loss runs through the critic."""
import copy
import random
from types import SimpleNamespace

import torch
import torch.nn as nn


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Linear(24, 1), nn.Tanh())

    def forward(self, s):
        return self.net(s)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, s, a):
        return self.net(torch.cat([s, a], dim=1))


class Saw:
    """State: blade temperature, hardness of the log. Fast is good, hot is bad."""

    def reset(self):
        self.temp, self.hard = 0.0, random.random()
        return torch.tensor([self.temp, self.hard])

    def step(self, a):
        self.temp = 0.8 * self.temp + 0.4 * (a + 1) * (0.5 + self.hard)
        reward = a - max(0.0, self.temp - 1.0) ** 2
        self.hard = min(1.0, max(0.0, self.hard + random.gauss(0, 0.05)))
        return torch.tensor([self.temp, self.hard]), reward


def soft_update(target, source, tau):
    for t, s in zip(target.parameters(), source.parameters()):
        t.data.copy_(t.data * (1.0 - tau) + s.data * tau)


class DDPG:
    def __init__(self, cfg):
        self.cfg = cfg
        self.actor, self.critic = Actor(), Critic()
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=cfg.lr)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=cfg.lr)
        self.buffer = []

    def act(self, s):
        a = self.actor(s.unsqueeze(0)).detach()
        return (a + 0.2 * torch.randn_like(a)).clamp_(-1, 1)[0]

    def update(self):
        s, a, r, s2 = (torch.stack(v) for v in zip(*random.sample(self.buffer, self.cfg.batch)))
        target_q = r + self.cfg.gamma * self.critic_target(s2, self.actor_target(s2)).detach()
        critic_loss = nn.functional.mse_loss(self.critic(s, a), target_q)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        actor_loss = -self.critic(s, self.actor(s)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        soft_update(self.actor_target, self.actor, self.cfg.tau)
        soft_update(self.critic_target, self.critic, self.cfg.tau)
        return critic_loss.item(), actor_loss.item()


if __name__ == "__main__":
    random.seed(1)
    torch.manual_seed(1)
    agent = DDPG(SimpleNamespace(lr=2e-3, gamma=0.9, tau=0.02, batch=24))
    saw = Saw()
    for episode in range(4):
        s, score = saw.reset(), 0.0
        for t in range(20):
            a = agent.act(s)
            s2, r = saw.step(a.item())
            agent.buffer.append((s, a, torch.tensor([r]), s2))
            s, score = s2, score + r
            if len(agent.buffer) >= agent.cfg.batch:
                losses = agent.update()
        if episode:
            print(episode, "score %.2f critic %.4f actor %.4f" % (score, *losses))
