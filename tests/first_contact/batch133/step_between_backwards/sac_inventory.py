# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = policy_loss, q_pi, self.q1, self.q2
"""Soft actor-critic that orders stock for a small shop with two products."""

import copy
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

N_PRODUCTS = 2
CAPACITY = 10.0


class ShopEnv:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.stock = np.full(N_PRODUCTS, 5.0)
        self.day = 0

    def observe(self):
        season = 2 * np.pi * self.day / 7
        return np.array([*(self.stock / CAPACITY), np.sin(season), np.cos(season)], np.float32)

    def step(self, action):
        order = CAPACITY / 2 * (np.asarray(action) + 1) / 2
        self.stock = np.minimum(self.stock + order, CAPACITY)
        demand = self.rng.poisson(2.0 + np.sin(2 * np.pi * self.day / 7), N_PRODUCTS)
        sold = np.minimum(demand, self.stock)
        reward = float((2.0 * sold - 0.7 * order - 0.1 * self.stock).sum())
        self.stock = self.stock - sold
        self.day += 1
        return self.observe(), reward, self.day % 30 == 0


class ReplayBuffer:
    def __init__(self, size, seed):
        self.data = deque(maxlen=size)
        self.rng = np.random.default_rng(seed)

    def push(self, *transition):
        self.data.append(transition)

    def sample(self, n):
        picks = self.rng.integers(len(self.data), size=n)
        columns = zip(*(self.data[i] for i in picks))
        names = ("obs", "act", "rew", "next_obs", "done")
        return {k: torch.as_tensor(np.array(c), dtype=torch.float32) for k, c in zip(names, columns)}


def mlp(n_in, n_out, width=32):
    return nn.Sequential(
        nn.Linear(n_in, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, n_out)
    )


class SquashedPolicy(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.net = mlp(obs_dim, 2 * act_dim)

    def forward(self, obs):
        mean, log_std = self.net(obs).chunk(2, dim=-1)
        dist = Normal(mean, log_std.clamp(-5, 1).exp())
        raw = dist.rsample()
        action = torch.tanh(raw)
        log_prob = dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)
        return action, log_prob.sum(dim=-1)


class SACAgent:
    def __init__(self, obs_dim, act_dim, gamma=0.97, tau=0.02, alpha=0.1, lr=3e-3):
        self.gamma, self.tau, self.alpha = gamma, tau, alpha
        self.policy = SquashedPolicy(obs_dim, act_dim)
        self.q1 = mlp(obs_dim + act_dim, 1)
        self.q2 = mlp(obs_dim + act_dim, 1)
        self.q1_target = copy.deepcopy(self.q1)
        self.q2_target = copy.deepcopy(self.q2)
        self.policy_opt = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.critic_opt = torch.optim.Adam([*self.q1.parameters(), *self.q2.parameters()], lr=lr)

    def act(self, obs):
        with torch.no_grad():
            return self.policy(torch.as_tensor(obs).unsqueeze(0))[0].squeeze(0).numpy()

    def critic_loss(self, batch):
        with torch.no_grad():
            next_act, next_logp = self.policy(batch["next_obs"])
            sa = torch.cat([batch["next_obs"], next_act], dim=-1)
            next_q = torch.min(self.q1_target(sa), self.q2_target(sa)).squeeze(-1)
            backup = batch["rew"] + self.gamma * (1 - batch["done"]) * (next_q - self.alpha * next_logp)
        sa = torch.cat([batch["obs"], batch["act"]], dim=-1)
        return F.mse_loss(self.q1(sa).squeeze(-1), backup) + F.mse_loss(self.q2(sa).squeeze(-1), backup)

    def policy_objective(self, batch):
        act, logp = self.policy(batch["obs"])
        sa = torch.cat([batch["obs"], act], dim=-1)
        q_pi = torch.min(self.q1(sa), self.q2(sa)).squeeze(-1)  # expect: place
        return (self.alpha * logp - q_pi).mean()

    def update(self, batch):
        critic_loss = self.critic_loss(batch)
        policy_loss = self.policy_objective(batch)  # expect: place

        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()  # expect: place

        self.policy_opt.zero_grad()
        policy_loss.backward()  # expect: place
        self.policy_opt.step()

        with torch.no_grad():
            for net, target in ((self.q1, self.q1_target), (self.q2, self.q2_target)):
                for p, p_target in zip(net.parameters(), target.parameters()):
                    p_target.lerp_(p, self.tau)
        return critic_loss.item(), policy_loss.item()


def main():
    torch.manual_seed(3)
    env, buffer = ShopEnv(seed=30), ReplayBuffer(2000, seed=31)
    agent = SACAgent(obs_dim=N_PRODUCTS + 2, act_dim=N_PRODUCTS)
    obs, earned = env.observe(), 0.0
    for day in range(90):
        action = agent.act(obs)
        next_obs, reward, done = env.step(action)
        buffer.push(obs, action, reward, next_obs, float(done))
        obs, earned = next_obs, earned + reward
        if len(buffer.data) >= 40:
            critic_loss, policy_loss = agent.update(buffer.sample(32))
        if done:
            print(f"day {day + 1}: earned {earned:.1f}")
            earned = 0.0
    print(f"critic {critic_loss:.3f}  policy {policy_loss:.3f}")


if __name__ == "__main__":
    main()
