"""Recurrent PPO on a memory task: the cue shown at the first step decides the right action."""
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.distributions import Categorical


@dataclass
class PPOConfig:
    n_envs: int = 16
    horizon: int = 8
    hidden: int = 24
    clip: float = 0.2
    gamma: float = 0.97
    lam: float = 0.9
    epochs: int = 3
    updates: int = 6
    entropy_coef: float = 0.01
    value_coef: float = 0.5
    lr: float = 5e-3
    seed: int = 99


class CueEnv:
    """Vectorised; an episode lasts five steps, reward at the last one."""

    def __init__(self, n):
        self.n = n
        self.t = torch.zeros(n, dtype=torch.long)
        self.cue = torch.randint(2, (n,))

    def obs(self):
        show = (self.t == 0).float()
        return torch.stack([show * (2 * self.cue - 1), self.t.float() / 4], dim=1)

    def step(self, action):
        last = self.t == 4
        reward = torch.where(last, (action == self.cue).float(), torch.zeros(self.n))
        self.t = torch.where(last, torch.zeros_like(self.t), self.t + 1)
        self.cue = torch.where(last, torch.randint(2, (self.n,)), self.cue)
        return self.obs(), reward, last.float()


class RecurrentPolicy(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.h0 = nn.Parameter(torch.zeros(1, hidden))
        self.cell = nn.GRUCell(2, hidden)
        self.pi = nn.Linear(hidden, 2)
        self.v = nn.Linear(hidden, 1)

    def initial(self, n):
        return self.h0.expand(n, -1)

    def forward(self, obs, h, fresh):
        h = fresh.unsqueeze(1) * self.initial(len(obs)) + (1 - fresh).unsqueeze(1) * h
        h = self.cell(obs, h)
        return self.pi(h), self.v(h).squeeze(1), h


class Rollout:
    def __init__(self, cfg):
        size = (cfg.horizon, cfg.n_envs)
        self.obs = torch.zeros(*size, 2)
        self.actions = torch.zeros(size, dtype=torch.long)
        self.logp, self.values, self.rewards = (torch.zeros(size) for _ in range(3))
        self.fresh, self.dones = torch.zeros(size), torch.zeros(size)

    def advantages(self, last_value, gamma, lam):
        adv, running = torch.zeros_like(self.rewards), 0.0
        for t in reversed(range(len(self.rewards))):
            nxt = last_value if t == len(self.rewards) - 1 else self.values[t + 1]
            alive = 1 - self.dones[t]
            delta = self.rewards[t] + gamma * alive * nxt - self.values[t]
            running = delta + gamma * lam * alive * running
            adv[t] = running
        return adv


class Learner:
    def __init__(self, cfg):
        self.cfg, self.env = cfg, CueEnv(cfg.n_envs)
        self.policy = RecurrentPolicy(cfg.hidden)
        self.optim = torch.optim.Adam(self.policy.parameters(), lr=cfg.lr)
        self.state = torch.zeros(cfg.n_envs, cfg.hidden)
        self.obs, self.fresh = self.env.obs(), torch.ones(cfg.n_envs)

    @torch.no_grad()
    def collect(self):
        buf, first_state = Rollout(self.cfg), self.state
        for t in range(self.cfg.horizon):
            logits, value, self.state = self.policy(self.obs, self.state, self.fresh)
            dist = Categorical(logits=logits)
            action = dist.sample()
            buf.obs[t], buf.actions[t], buf.fresh[t] = self.obs, action, self.fresh
            buf.logp[t], buf.values[t] = dist.log_prob(action), value
            self.obs, buf.rewards[t], buf.dones[t] = self.env.step(action)
            self.fresh = buf.dones[t]
        _, last_value, _ = self.policy(self.obs, self.state, self.fresh)
        return buf, first_state, last_value

    def replay(self, buf, h):
        logps, values, entropies = [], [], []
        for t in range(self.cfg.horizon):
            logits, value, h = self.policy(buf.obs[t], h, buf.fresh[t])
            dist = Categorical(logits=logits)
            logps.append(dist.log_prob(buf.actions[t]))
            entropies.append(dist.entropy())
            values.append(value)
        return torch.stack(logps), torch.stack(values), torch.stack(entropies)

    def update(self):
        cfg = self.cfg
        buf, first_state, last_value = self.collect()
        adv = buf.advantages(last_value, cfg.gamma, cfg.lam)
        returns = adv + buf.values
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        for _ in range(cfg.epochs):
            logp, values, entropy = self.replay(buf, first_state)
            ratio = (logp - buf.logp).exp()
            surrogate = torch.min(ratio * adv, ratio.clamp(1 - cfg.clip, 1 + cfg.clip) * adv)
            loss = -surrogate.mean()
            loss += cfg.value_coef * (values - returns).pow(2).mean()
            loss -= cfg.entropy_coef * entropy.mean()
            self.optim.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.policy.parameters(), 0.5)
            self.optim.step()
        return buf.rewards.sum().item() / max(buf.dones.sum().item(), 1.0), loss.item()


if __name__ == "__main__":
    config = PPOConfig()
    torch.manual_seed(config.seed)
    learner = Learner(config)
    for i in range(config.updates):
        score, loss = learner.update()
        print(f"update {i} success {score:.2f} loss {loss:.3f}")
