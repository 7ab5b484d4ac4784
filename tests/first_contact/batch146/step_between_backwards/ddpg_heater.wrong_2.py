"""DDPG on a toy room-heating problem (one continuous action)."""
import argparse
import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class RoomEnv:
    """state = (inside, outside, target), action in [-1, 1] is heating power"""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.t = 0
        self.inside = self.rng.uniform(-1, 1)
        self.outside = self.rng.uniform(-2, 0)
        self.target = self.rng.uniform(0, 1)
        return self._obs()

    def _obs(self):
        return np.array([self.inside, self.outside, self.target], dtype=np.float32)

    def step(self, a):
        self.inside += 0.1 * (self.outside - self.inside) + 0.5 * float(a) + self.rng.normal(0, 0.02)
        self.t += 1
        reward = -(self.inside - self.target) ** 2 - 0.01 * float(a) ** 2
        return self._obs(), reward, self.t >= 25


def mlp(sizes, last=None):
    layers = []
    for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
        layers.append(nn.Linear(a, b))
        if i < len(sizes) - 2:
            layers.append(nn.ReLU())
    if last is not None:
        layers.append(last)
    return nn.Sequential(*layers)


class Critic(nn.Module):
    def __init__(self, s_dim, a_dim):
        super().__init__()
        self.q = mlp([s_dim + a_dim, 32, 32, 1])

    def forward(self, s, a):
        return self.q(torch.cat([s, a], dim=-1))


class ReplayMemory:
    def __init__(self, size):
        self.data = deque(maxlen=size)

    def push(self, *transition):
        self.data.append(transition)

    def sample(self, n):
        s, a, r, s2, d = zip(*random.sample(self.data, n))
        to = lambda v: torch.as_tensor(np.array(v), dtype=torch.float32)
        return to(s), to(a).view(n, -1), to(r).view(n, 1), to(s2), to(d).view(n, 1)

    def __len__(self):
        return len(self.data)


class DDPG:
    def __init__(self, s_dim, a_dim, args):
        self.actor = mlp([s_dim, 32, 32, a_dim], nn.Tanh())
        self.critic = Critic(s_dim, a_dim)
        self.actor_target = copy.deepcopy(self.actor)
        self.critic_target = copy.deepcopy(self.critic)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=args.actor_lr)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=args.critic_lr)
        self.gamma, self.tau = args.gamma, args.tau

    @torch.no_grad()
    def act(self, s, noise=0.0):
        a = self.actor(torch.from_numpy(s))
        return (a + noise * torch.randn_like(a)).clamp(-1, 1).numpy()

    def update(self, batch):
        s, a, r, s2, done = batch
        with torch.no_grad():
            q_next = self.critic_target(s2, self.actor_target(s2))
            y = r + self.gamma * (1 - done) * q_next

        critic_loss = F.mse_loss(self.critic(s, a), y)
        actor_loss = -self.critic(s, self.actor(s)).mean()

        self.critic_opt.zero_grad()
        critic_loss.backward()

        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.critic_opt.step()
        self.actor_opt.step()

        self.soft_update(self.actor, self.actor_target)
        self.soft_update(self.critic, self.critic_target)
        return critic_loss.item(), actor_loss.item()

    @torch.no_grad()
    def soft_update(self, net, target):
        for p, tp in zip(net.parameters(), target.parameters()):
            tp.lerp_(p, self.tau)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--episodes", type=int, default=5)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--actor-lr", type=float, default=1e-3)
    ap.add_argument("--critic-lr", type=float, default=2e-3)
    ap.add_argument("--gamma", type=float, default=0.97)
    ap.add_argument("--tau", type=float, default=0.01)
    ap.add_argument("--seed", type=int, default=3)
    args = ap.parse_args()

    random.seed(args.seed)
    torch.manual_seed(args.seed)
    env = RoomEnv(np.random.default_rng(args.seed))
    agent = DDPG(3, 1, args)
    memory = ReplayMemory(2000)
    for ep in range(args.episodes):
        s, done, score = env.reset(), False, 0.0
        while not done:
            a = agent.act(s, noise=0.3)
            s2, r, done = env.step(a[0])
            memory.push(s, a, r, s2, float(done))
            s = s2
            score += r
            if len(memory) >= 2 * args.batch_size:
                agent.update(memory.sample(args.batch_size))
        print("episode %3d  return %8.3f  memory %d" % (ep, score, len(memory)))


if __name__ == "__main__":
    main()
