# expect: pattern = undetached-target
# expect: raises = nothing
# expect: carrier = advantages, values
"""Advantage actor-critic for a one-product inventory with random demand."""
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.distributions import Categorical


@dataclass
class Config:
    n_envs: int = 16
    n_steps: int = 8
    updates: int = 45
    gamma: float = 0.9
    lr: float = 3e-3
    value_coef: float = 0.5
    entropy_coef: float = 0.01
    seed: int = 17


class Inventory:
    """Stock 0..10. Order 0..4 units each day, pay for holding and for lost sales."""

    def __init__(self, n, gen):
        self.n, self.gen = n, gen
        self.stock = torch.randint(0, 11, (n,), generator=gen)
        self.day = torch.randint(0, 7, (n,), generator=gen)

    def observe(self):
        phase = self.day * (2 * torch.pi / 7)
        return torch.stack([self.stock / 10, phase.sin(), phase.cos()], dim=1)

    def step(self, order):
        stock = (self.stock + order).clamp(max=10)
        mean = 2 + (self.day >= 5) * 2
        demand = torch.poisson(mean.float(), generator=self.gen).long()
        sold = torch.minimum(stock, demand)
        reward = 0.2 * sold - 0.02 * (stock - sold) - 0.1 * (demand - sold) - 0.06 * order
        self.stock = stock - sold
        self.day = (self.day + 1) % 7
        return self.observe(), reward


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 5))

    def forward(self, obs):
        return Categorical(logits=self.net(obs))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, obs):
        return self.net(obs).squeeze(-1)


def collect(env, actor, critic, cfg):
    obs = env.observe()
    log_probs, entropies, values, rewards = [], [], [], []
    for _ in range(cfg.n_steps):
        dist = actor(obs)
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        values.append(critic(obs))
        obs, reward = env.step(action)
        rewards.append(reward)
    with torch.no_grad():
        last_value = critic(obs)
    return log_probs, entropies, values, rewards, last_value


def n_step_returns(rewards, last_value, gamma):
    returns, running = [], last_value
    for r in reversed(rewards):
        running = r + gamma * running
        returns.insert(0, running)
    return torch.stack(returns)


def train(cfg):
    torch.manual_seed(cfg.seed)
    env = Inventory(cfg.n_envs, torch.Generator().manual_seed(cfg.seed))
    actor, critic = Actor(), Critic()
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=cfg.lr)
    for update in range(cfg.updates):
        log_probs, entropies, values, rewards, last_value = collect(env, actor, critic, cfg)
        returns = n_step_returns(rewards, last_value, cfg.gamma)
        log_probs, values = torch.stack(log_probs), torch.stack(values)  # expect: place
        advantages = returns - values  # expect: place

        policy_loss = -(log_probs * advantages).mean()  # expect: place
        value_loss = advantages.pow(2).mean()
        entropy = torch.stack(entropies).mean()
        loss = policy_loss + cfg.value_coef * value_loss - cfg.entropy_coef * entropy

        optimizer.zero_grad()
        loss.backward()  # expect: place
        nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 0.5)
        optimizer.step()
        if (update + 1) % 15 == 0:
            reward = torch.stack(rewards).mean()
            print(f"update {update + 1}: reward {reward:.3f}, value loss {value_loss.item():.3f}")


train(Config())
