import random
from collections import deque
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.optim import Adam


@dataclass
class Config:
    obs: int = 2
    act: int = 1
    hidden: int = 32
    gamma: float = 0.97
    tau: float = 0.02
    batch: int = 32
    steps: int = 120
    warmup: int = 64
    seed: int = 3


class TankEnv:
    """Keep the level of a leaking tank at a set point by opening a valve."""

    def reset(self):
        self.level, self.goal, self.t = random.uniform(0, 2), random.uniform(0.5, 1.5), 0
        return self._obs()

    def step(self, valve):
        self.level += 0.1 * (valve + 1) - 0.08 * self.level ** 0.5
        self.level = max(self.level, 0.0)
        self.t += 1
        return self._obs(), -abs(self.level - self.goal), self.t >= 40

    def _obs(self):
        return np.array([self.level, self.goal], dtype=np.float32)


def mlp(n_in, n_out, hidden, *tail):
    return nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(),
                         nn.Linear(hidden, hidden), nn.ReLU(),
                         nn.Linear(hidden, n_out), *tail)


class Agent:
    def __init__(self, cfg):
        self.cfg = cfg
        self.actor = mlp(cfg.obs, cfg.act, cfg.hidden, nn.Tanh())
        self.critic = mlp(cfg.obs + cfg.act, 1, cfg.hidden)
        self.actor_t = mlp(cfg.obs, cfg.act, cfg.hidden, nn.Tanh())
        self.critic_t = mlp(cfg.obs + cfg.act, 1, cfg.hidden)
        self.actor_t.load_state_dict(self.actor.state_dict())
        self.critic_t.load_state_dict(self.critic.state_dict())
        self.actor_opt = Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = Adam(self.critic.parameters(), lr=2e-3)

    @torch.no_grad()
    def act(self, obs, noise=0.2):
        a = self.actor(torch.from_numpy(obs)).numpy()
        return np.clip(a + noise * np.random.randn(*a.shape), -1, 1).astype(np.float32)

    def update(self, batch):
        s, a, r, s2, done = (torch.from_numpy(np.stack(x)) for x in zip(*batch))
        with torch.no_grad():
            q_next = self.critic_t(torch.cat([s2, self.actor_t(s2)], 1)).squeeze(1)
            y = r + self.cfg.gamma * (1 - done) * q_next

        q = self.critic(torch.cat([s, a], 1)).squeeze(1)
        critic_loss = (q - y).pow(2).mean()
        actor_loss = -self.critic(torch.cat([s, self.actor(s)], 1)).mean()

        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        with torch.no_grad():
            for net, slow in ((self.actor, self.actor_t), (self.critic, self.critic_t)):
                for p, p_slow in zip(net.parameters(), slow.parameters()):
                    p_slow.lerp_(p, self.cfg.tau)
        return critic_loss.item(), actor_loss.item()


def main(cfg):
    random.seed(cfg.seed)
    np.random.seed(cfg.seed)
    torch.manual_seed(cfg.seed)
    env, agent, buffer = TankEnv(), Agent(cfg), deque(maxlen=1000)
    obs = env.reset()
    for step in range(cfg.steps):
        a = agent.act(obs)
        nxt, reward, done = env.step(float(a[0]))
        buffer.append((obs, a, np.float32(reward), nxt, np.float32(done)))
        obs = env.reset() if done else nxt
        if len(buffer) >= cfg.warmup:
            c, p = agent.update(random.sample(buffer, cfg.batch))
            if step % 20 == 0:
                print(step, round(c, 4), round(p, 4))


if __name__ == "__main__":
    main(Config())
