


"""Soft actor-critic on a toy point-reaching task."""
import copy
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class SACConfig:
    obs_dim: int = 6
    act_dim: int = 2
    hidden: int = 32
    gamma: float = 0.99
    tau: float = 0.01
    alpha: float = 0.2
    batch_size: int = 32
    updates: int = 6


class Policy(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(cfg.obs_dim, cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU())
        self.mean = nn.Linear(cfg.hidden, cfg.act_dim)
        self.log_std = nn.Linear(cfg.hidden, cfg.act_dim)

    def sample(self, obs):
        h = self.trunk(obs)
        dist = torch.distributions.Normal(self.mean(h), self.log_std(h).clamp(-5, 2).exp())
        raw = dist.rsample()
        action = torch.tanh(raw)
        log_prob = dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)
        return action, log_prob.sum(-1, keepdim=True)


class QNetwork(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(cfg.obs_dim + cfg.act_dim, cfg.hidden), nn.ReLU(),
            nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU(),
            nn.Linear(cfg.hidden, 1),
        )

    def forward(self, obs, action):
        return self.net(torch.cat([obs, action], dim=-1))


class ReplayBuffer:
    def __init__(self, cfg, capacity=512):
        rng = np.random.default_rng(0)
        self.obs = rng.normal(size=(capacity, cfg.obs_dim)).astype(np.float32)
        self.act = rng.uniform(-1, 1, size=(capacity, cfg.act_dim)).astype(np.float32)
        self.next_obs = self.obs + 0.1 * rng.normal(size=self.obs.shape).astype(np.float32)
        self.rew = -np.square(self.obs[:, :2] - self.act).sum(1, keepdims=True).astype(np.float32)

    def sample(self, n):
        idx = torch.randint(len(self.obs), (n,)).numpy()
        return tuple(torch.from_numpy(a[idx]) for a in (self.obs, self.act, self.rew, self.next_obs))


class SACAgent:
    def __init__(self, cfg):
        self.cfg = cfg
        self.policy = Policy(cfg)
        self.q1, self.q2 = QNetwork(cfg), QNetwork(cfg)
        self.q1_target, self.q2_target = copy.deepcopy(self.q1), copy.deepcopy(self.q2)
        self.policy_opt = torch.optim.Adam(self.policy.parameters(), lr=3e-4)
        self.q1_opt = torch.optim.Adam(self.q1.parameters(), lr=3e-4)
        self.q2_opt = torch.optim.Adam(self.q2.parameters(), lr=3e-4)

    def update(self, batch):
        obs, act, rew, next_obs = batch
        with torch.no_grad():
            next_act, next_logp = self.policy.sample(next_obs)
            q_next = torch.min(self.q1_target(next_obs, next_act), self.q2_target(next_obs, next_act))
            target = rew + self.cfg.gamma * (q_next - self.cfg.alpha * next_logp)
        q1_loss = F.mse_loss(self.q1(obs, act), target)
        q2_loss = F.mse_loss(self.q2(obs, act), target)

        self.q1_opt.zero_grad()
        q1_loss.backward()
        self.q1_opt.step()

        self.q2_opt.zero_grad()
        q2_loss.backward()
        self.q2_opt.step()

        new_act, logp = self.policy.sample(obs)
        q_new_actions = torch.min(self.q1(obs, new_act), self.q2(obs, new_act))
        policy_loss = (self.cfg.alpha * logp - q_new_actions).mean()

        self.policy_opt.zero_grad()
        policy_loss.backward()
        self.policy_opt.step()

        self.soft_update(self.q1, self.q1_target)
        self.soft_update(self.q2, self.q2_target)
        return {"q1": q1_loss.item(), "q2": q2_loss.item(), "policy": policy_loss.item()}

    @torch.no_grad()
    def soft_update(self, source, target):
        for p, tp in zip(source.parameters(), target.parameters()):
            tp.mul_(1 - self.cfg.tau).add_(p, alpha=self.cfg.tau)


def main():
    torch.manual_seed(1)
    cfg = SACConfig()
    agent, buffer = SACAgent(cfg), ReplayBuffer(cfg)
    for it in range(cfg.updates):
        stats = agent.update(buffer.sample(cfg.batch_size))
        print(it, " ".join(f"{k}={v:.4f}" for k, v in stats.items()))


if __name__ == "__main__":
    main()
