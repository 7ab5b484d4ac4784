


"""Synchronous n-step advantage actor-critic on a batch of toy tracking environments."""
from collections import deque
from typing import NamedTuple

import torch
from torch import nn
from torch.distributions import Categorical


class Hyper(NamedTuple):
    num_envs: int = 8
    obs_dim: int = 4
    n_actions: int = 3
    hidden: int = 32
    n_steps: int = 5
    updates: int = 8
    gamma: float = 0.97
    value_coef: float = 0.5
    entropy_coef: float = 0.01
    max_grad_norm: float = 0.5
    lr: float = 3e-3


class TrackingVecEnv:
    """Position, velocity and a moving goal; actions push left, nothing or right."""

    def __init__(self, num_envs):
        self.num_envs = num_envs

    def reset(self):
        self.state = torch.randn(self.num_envs, 4)
        self.t = torch.zeros(self.num_envs)
        return self.state.clone()

    def step(self, action):
        pos, vel, goal, drift = self.state.unbind(1)
        vel = 0.9 * vel + 0.1 * (action.float() - 1)
        self.state = torch.stack([pos + vel, vel, goal + 0.05 * drift, drift], dim=1)
        self.t += 1
        done = self.t >= 20
        reward = -(self.state[:, 0] - self.state[:, 2]).abs().clamp(max=2.0)
        if done.any():
            self.state[done] = torch.randn(int(done.sum()), 4)
            self.t[done] = 0
        return self.state.clone(), reward, done.float()


class ActorCritic(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(hp.obs_dim, hp.hidden), nn.Tanh(), nn.Linear(hp.hidden, hp.n_actions))
        self.critic = nn.Sequential(nn.Linear(hp.obs_dim, hp.hidden), nn.Tanh(), nn.Linear(hp.hidden, 1))

    def forward(self, obs):
        return Categorical(logits=self.actor(obs)), self.critic(obs).squeeze(-1)


class Rollout:
    def __init__(self):
        self.log_probs, self.values, self.rewards, self.masks, self.entropies = [], [], [], [], []

    def add(self, dist, action, value, reward, done):
        self.log_probs.append(dist.log_prob(action))
        self.entropies.append(dist.entropy())
        self.values.append(value)
        self.rewards.append(reward)
        self.masks.append(1 - done)

    def compute_returns(self, next_value, gamma):
        R, returns = next_value, []
        for reward, mask in zip(reversed(self.rewards), reversed(self.masks)):
            R = reward + gamma * mask * R
            returns.insert(0, R)
        return torch.stack(returns)


def update(model, optimizer, rollout, next_value, hp):
    returns = rollout.compute_returns(next_value, hp.gamma)
    values = torch.stack(rollout.values)
    log_probs = torch.stack(rollout.log_probs)
    advantage = returns - values.detach()
    actor_loss = -(log_probs * advantage.detach()).mean()
    critic_loss = advantage.pow(2).mean()
    entropy = torch.stack(rollout.entropies).mean()
    loss = actor_loss + hp.value_coef * critic_loss - hp.entropy_coef * entropy
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), hp.max_grad_norm)
    optimizer.step()
    return actor_loss.item(), critic_loss.item(), entropy.item()


def main():
    torch.manual_seed(11)
    hp = Hyper()
    envs, model = TrackingVecEnv(hp.num_envs), ActorCritic(hp)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=hp.lr, alpha=0.99, eps=1e-5)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda u: 1 - u / hp.updates)
    recent = deque(maxlen=50)
    obs = envs.reset()
    for it in range(hp.updates):
        rollout = Rollout()
        for _ in range(hp.n_steps):
            dist, value = model(obs)
            action = dist.sample()
            obs, reward, done = envs.step(action)
            rollout.add(dist, action, value, reward, done)
            recent.append(reward.mean().item())
        _, next_value = model(obs)
        stats = update(model, optimizer, rollout, next_value, hp)
        scheduler.step()
        print(f"update {it} reward {sum(recent) / len(recent):.3f} actor {stats[0]:.3f} critic {stats[1]:.3f} entropy {stats[2]:.3f}")


if __name__ == "__main__":
    main()
