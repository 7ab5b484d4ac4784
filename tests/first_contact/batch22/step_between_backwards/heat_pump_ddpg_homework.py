# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = actor_loss, policy_loss
"""CS-487 Deep RL, homework 4: DDPG on the heat pump environment. Fill in update()."""
import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class HeatPumpEnv:
    """room temperature, outside temperature -> power of the pump in [-1, 1]"""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.room, self.out, self.t = 18.0 + self.rng.rand() * 4, self.rng.randn() * 5, 0
        return self.obs()

    def obs(self):
        return np.array([(self.room - 21) / 5, self.out / 10], dtype=np.float32)

    def step(self, a):
        a = float(np.clip(a, -1, 1))
        self.room += 0.05 * (self.out - self.room) + 1.5 * a
        self.out += self.rng.randn() * 0.3
        self.t += 1
        return self.obs(), -abs(self.room - 21) / 5 - 0.05 * a * a, self.t >= 25


def mlp(sizes, out=nn.Identity):
    layers = []
    for j in range(len(sizes) - 1):
        layers += [nn.Linear(sizes[j], sizes[j + 1]), nn.ReLU() if j < len(sizes) - 2 else out()]
    return nn.Sequential(*layers)


class DDPG:
    def __init__(self, obs_dim, act_dim, gamma=0.97, polyak=0.99):
        self.pi = mlp([obs_dim, 24, 24, act_dim], nn.Tanh)
        self.q = mlp([obs_dim + act_dim, 24, 24, 1])
        self.pi_targ, self.q_targ = copy.deepcopy(self.pi), copy.deepcopy(self.q)
        for p in list(self.pi_targ.parameters()) + list(self.q_targ.parameters()):
            p.requires_grad = False
        self.pi_opt = torch.optim.Adam(self.pi.parameters(), lr=1e-3)
        self.q_opt = torch.optim.Adam(self.q.parameters(), lr=2e-3)
        self.gamma, self.polyak = gamma, polyak

    def act(self, o, noise):
        with torch.no_grad():
            a = self.pi(torch.as_tensor(o)).numpy()
        return np.clip(a + noise * np.random.randn(*a.shape), -1, 1).astype(np.float32)

    def compute_losses(self, o, a, r, o2, d):
        with torch.no_grad():
            backup = r + self.gamma * (1 - d) * self.q_targ(torch.cat([o2, self.pi_targ(o2)], -1)).squeeze(-1)
        critic_loss = F.mse_loss(self.q(torch.cat([o, a], -1)).squeeze(-1), backup)
        actor_loss = -self.q(torch.cat([o, self.pi(o)], -1)).mean()  # expect: place
        return critic_loss, actor_loss

    def update(self, batch):
        # ---------- your code here ----------
        critic_loss, actor_loss = self.compute_losses(*batch)  # expect: place

        self.q_opt.zero_grad()
        critic_loss.backward()
        self.q_opt.step()  # expect: place

        self.pi_opt.zero_grad()
        actor_loss.backward()  # expect: place
        self.pi_opt.step()
        # ---------- end of your code ----------
        with torch.no_grad():
            for net, targ in ((self.pi, self.pi_targ), (self.q, self.q_targ)):
                for p, p_targ in zip(net.parameters(), targ.parameters()):
                    p_targ.mul_(self.polyak).add_((1 - self.polyak) * p)
        return critic_loss.item(), actor_loss.item()


def sample(buffer, n):
    o, a, r, o2, d = zip(*random.sample(buffer, n))
    return [torch.as_tensor(np.array(v), dtype=torch.float32) for v in (o, a, r, o2, d)]


if __name__ == '__main__':
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    env, agent, buffer = HeatPumpEnv(0), DDPG(2, 1), deque(maxlen=2000)
    for episode in range(6):
        o, done, ret = env.reset(), False, 0.0
        while not done:
            a = agent.act(o, noise=0.2)
            o2, r, done = env.step(a[0])
            buffer.append((o, a, r, o2, float(done)))
            o, ret = o2, ret + r
            if len(buffer) >= 40:
                losses = agent.update(sample(buffer, 32))
        print(f'episode {episode} return {ret:.2f}')
