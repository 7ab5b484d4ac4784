# expect: pattern = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = log_prob, log_probs, old_log_probs, buffer
"""PPO on a toy portfolio-allocation market with Dirichlet weights."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Dirichlet


@dataclass
class PPOConfig:
    assets: int = 4
    lookback: int = 6
    hidden: int = 24
    rollout_len: int = 24
    updates: int = 2
    epochs: int = 3
    minibatches: int = 2
    gamma: float = 0.98
    gae_lambda: float = 0.9
    clip: float = 0.2
    entropy_coef: float = 1e-3
    value_coef: float = 0.5
    cost: float = 1e-3
    lr: float = 3e-3
    max_grad_norm: float = 0.5
    seed: int = 11


class Market:
    """Mean-reverting log returns with one shared factor."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.rng = np.random.default_rng(cfg.seed)
        self.beta = self.rng.uniform(0.2, 1.2, cfg.assets)

    def reset(self):
        self.history = self.rng.normal(0, 0.02, (self.cfg.lookback, self.cfg.assets))
        self.weights = np.full(self.cfg.assets, 1.0 / self.cfg.assets)
        return self._obs()

    def _obs(self):
        return np.concatenate([50 * self.history.ravel(), self.weights]).astype(np.float32)

    def step(self, weights):
        factor = self.rng.normal(0, 0.01)
        ret = -0.3 * self.history[-1] + self.beta * factor + self.rng.normal(0, 0.01, self.cfg.assets)
        turnover = np.abs(weights - self.weights).sum()
        reward = float(np.log1p(weights @ ret) - self.cfg.cost * turnover)
        self.history = np.vstack([self.history[1:], ret])
        self.weights = weights
        return self._obs(), 100 * reward


class AllocationPolicy(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        obs_dim = cfg.assets * (cfg.lookback + 1)
        self.body = nn.Sequential(nn.Linear(obs_dim, cfg.hidden), nn.Tanh(), nn.Linear(cfg.hidden, cfg.hidden), nn.Tanh())
        self.concentration = nn.Linear(cfg.hidden, cfg.assets)
        self.value = nn.Linear(cfg.hidden, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Dirichlet(F.softplus(self.concentration(h)) + 1.0), self.value(h).squeeze(-1)

    def act(self, obs):
        dist, value = self(obs)
        weights = dist.sample()
        return weights, dist.log_prob(weights), value.item()  # expect: place

    def evaluate(self, obs, weights):
        dist, value = self(obs)
        return dist.log_prob(weights), dist.entropy(), value


class RolloutBuffer:
    def __init__(self):
        self.clear()

    def clear(self):
        self.obs, self.weights, self.log_probs, self.values, self.rewards = [], [], [], [], []

    def add(self, obs, weights, log_prob, value, reward):
        self.obs.append(obs)
        self.weights.append(weights)
        self.log_probs.append(log_prob)  # expect: place
        self.values.append(value)
        self.rewards.append(reward)

    def finish(self, last_value, cfg):
        values = self.values + [last_value]
        advantages, running = [], 0.0
        for t in reversed(range(len(self.rewards))):
            delta = self.rewards[t] + cfg.gamma * values[t + 1] - values[t]
            running = delta + cfg.gamma * cfg.gae_lambda * running
            advantages.insert(0, running)
        adv = torch.tensor(advantages)
        returns = adv + torch.tensor(self.values)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        return torch.stack(self.obs), torch.stack(self.weights), torch.stack(self.log_probs), adv, returns  # expect: place


class PPO:
    def __init__(self, policy, cfg):
        self.policy, self.cfg = policy, cfg
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=cfg.lr, eps=1e-5)
        self.scheduler = torch.optim.lr_scheduler.LinearLR(self.optimizer, 1.0, 0.3, cfg.updates)

    def update(self, buffer, last_value):
        cfg = self.cfg
        obs, weights, old_log_probs, adv, returns = buffer.finish(last_value, cfg)  # expect: place
        stats = []
        for _ in range(cfg.epochs):
            for idx in torch.randperm(len(adv)).chunk(cfg.minibatches):
                new_log_probs, entropy, value = self.policy.evaluate(obs[idx], weights[idx])
                ratio = (new_log_probs - old_log_probs[idx]).exp()  # expect: place
                surrogate = torch.min(ratio * adv[idx], ratio.clamp(1 - cfg.clip, 1 + cfg.clip) * adv[idx])
                loss = (-surrogate.mean() + cfg.value_coef * F.mse_loss(value, returns[idx])
                        - cfg.entropy_coef * entropy.mean())
                self.optimizer.zero_grad()
                loss.backward()  # expect: place
                nn.utils.clip_grad_norm_(self.policy.parameters(), cfg.max_grad_norm)
                self.optimizer.step()
                stats.append(loss.item())
        self.scheduler.step()
        return sum(stats) / len(stats)


def main():
    cfg = PPOConfig()
    torch.manual_seed(cfg.seed)
    market = Market(cfg)
    policy = AllocationPolicy(cfg)
    agent = PPO(policy, cfg)
    buffer = RolloutBuffer()
    obs = torch.from_numpy(market.reset())
    for update in range(cfg.updates):
        buffer.clear()
        for _ in range(cfg.rollout_len):
            weights, log_prob, value = policy.act(obs)  # expect: place
            next_obs, reward = market.step(weights.numpy())
            buffer.add(obs, weights, log_prob, value, reward)  # expect: place
            obs = torch.from_numpy(next_obs)
        with torch.no_grad():
            last_value = policy(obs)[1].item()
        loss = agent.update(buffer, last_value)
        print(f"update {update} loss {loss:.4f} reward {np.mean(buffer.rewards):.4f}")


if __name__ == "__main__":
    main()
