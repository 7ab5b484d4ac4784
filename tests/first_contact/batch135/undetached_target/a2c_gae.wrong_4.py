"""Advantage actor-critic with GAE on a small vectorised point-mass task."""

import math
from collections import namedtuple
from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Normal

Step = namedtuple("Step", "log_prob entropy value reward alive")


@dataclass
class A2CConfig:
    envs: int = 8
    horizon: int = 10
    updates: int = 6
    gamma: float = 0.97
    lam: float = 0.9
    lr: float = 5e-3
    value_weight: float = 0.5
    entropy_weight: float = 1e-2


class PointMass:
    """Push a mass back to the origin; an episode ends where the mass leaves the arena."""

    def __init__(self, count, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.count = count
        self.state = self._fresh(count)

    def _fresh(self, count):
        return torch.rand(count, 2, generator=self.generator) * 2 - 1

    def step(self, force):
        position, speed = self.state.unbind(1)
        speed = 0.95 * speed + 0.2 * force.clamp(-1, 1)
        position = position + 0.2 * speed
        alive = (position.abs() < 2).float()
        reward = alive - position.pow(2) - 0.05 * force.pow(2)
        moved = torch.stack([position, speed], dim=1)
        self.state = torch.where(alive[:, None] > 0, moved, self._fresh(self.count))
        return self.state, reward, alive


class ActorMixin:
    def act(self, features):
        policy = Normal(self.mean(features).squeeze(-1), self.log_std.exp())
        action = policy.sample()
        return action, policy.log_prob(action), policy.entropy()


class CriticMixin:
    def evaluate(self, features):
        return self.value_head(features).squeeze(-1)


class ActorCritic(ActorMixin, CriticMixin, nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.mean = nn.Linear(hidden, 1)
        self.value_head = nn.Linear(hidden, 1)
        self.log_std = nn.Parameter(torch.tensor(math.log(0.5)))

    def forward(self, state):
        features = self.body(state)
        return (*self.act(features), self.evaluate(features))


class A2C:
    def __init__(self, cfg):
        self.cfg = cfg
        self.agent = ActorCritic()
        self.env = PointMass(cfg.envs, seed=1)
        self.optimizer = torch.optim.RMSprop(self.agent.parameters(), lr=cfg.lr)

    def rollout(self):
        steps, state = [], self.env.state
        for _ in range(self.cfg.horizon):
            action, log_prob, entropy, value = self.agent(state)
            state, reward, alive = self.env.step(action)
            steps.append(Step(log_prob, entropy, value, reward, alive))
        with torch.no_grad():
            bootstrap = self.agent(state)[-1]
        return Step(*(torch.stack(column) for column in zip(*steps))), bootstrap

    def compute_gae(self, batch, bootstrap):
        advantages, gae, next_value = [], 0.0, bootstrap
        for t in reversed(range(self.cfg.horizon)):
            delta = batch.reward[t] + self.cfg.gamma * batch.alive[t] * next_value - batch.value[t]
            gae = delta + self.cfg.gamma * self.cfg.lam * batch.alive[t] * gae
            next_value = batch.value[t]
            advantages.insert(0, gae)
        return torch.stack(advantages)

    def update(self):
        batch, bootstrap = self.rollout()
        advantages = self.compute_gae(batch, bootstrap)
        returns = advantages + batch.value
        actor_loss = -(batch.log_prob * advantages.detach()).mean()
        critic_loss = advantages.detach().pow(2).mean()
        loss = actor_loss + self.cfg.value_weight * critic_loss
        loss = loss - self.cfg.entropy_weight * batch.entropy.mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return batch.reward.mean().item(), critic_loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    config = A2CConfig()
    learner = A2C(config)
    for number in range(config.updates):
        reward, critic = learner.update()
        print(f"update {number}: reward {reward:.3f}  critic loss {critic:.3f}")
