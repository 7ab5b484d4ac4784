"""Soft actor-critic on a one-dimensional cart that must stop at the origin."""
import copy
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(n_in, n_out, width=32):
    return nn.Sequential(nn.Linear(n_in, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, n_out))


class QFunction(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(3, 1)

    def forward(self, obs, act):
        return self.net(torch.cat([obs, act], dim=-1))


class TanhGaussianPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(2, 2)

    def forward(self, obs):
        mean, log_std = self.net(obs).chunk(2, dim=-1)
        dist = torch.distributions.Normal(mean, log_std.clamp(-4, 1).exp())
        raw = dist.rsample()
        action = torch.tanh(raw)
        log_pi = dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)
        return action, log_pi


class SACTrainer:
    def __init__(self, discount=0.97, alpha=0.1, tau=0.02, lr=1e-3):
        self.policy = TanhGaussianPolicy()
        self.qf1, self.qf2 = QFunction(), QFunction()
        self.target_qf1, self.target_qf2 = copy.deepcopy(self.qf1), copy.deepcopy(self.qf2)
        self.discount, self.alpha, self.tau = discount, alpha, tau
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.qf1_optimizer = torch.optim.Adam(self.qf1.parameters(), lr=lr)
        self.qf2_optimizer = torch.optim.Adam(self.qf2.parameters(), lr=lr)

    def train_from_batch(self, obs, actions, rewards, next_obs):
        # targets
        with torch.no_grad():
            next_actions, next_log_pi = self.policy(next_obs)
            target_q = torch.min(self.target_qf1(next_obs, next_actions), self.target_qf2(next_obs, next_actions))
            q_target = rewards + self.discount * (target_q - self.alpha * next_log_pi)

        # policy
        new_actions, log_pi = self.policy(obs)
        q_new = torch.min(self.qf1(obs, new_actions), self.qf2(obs, new_actions))
        policy_loss = (self.alpha * log_pi - q_new).mean()

        # critics
        qf1_loss = F.mse_loss(self.qf1(obs, actions), q_target)
        qf2_loss = F.mse_loss(self.qf2(obs, actions), q_target)

        # update networks
        self.qf1_optimizer.zero_grad()
        self.qf2_optimizer.zero_grad()
        self.policy_optimizer.zero_grad()
        qf1_loss.backward()
        qf2_loss.backward()
        policy_loss.backward()
        self.qf1_optimizer.step()
        self.qf2_optimizer.step()
        self.policy_optimizer.step()

        self._soft_update(self.qf1, self.target_qf1)
        self._soft_update(self.qf2, self.target_qf2)
        return qf1_loss.item(), qf2_loss.item(), policy_loss.item()

    @torch.no_grad()
    def _soft_update(self, source, target):
        for p, tp in zip(source.parameters(), target.parameters()):
            tp.mul_(1 - self.tau).add_(self.tau * p)


def fill_replay(n, rng):
    replay, state = deque(maxlen=n), np.array([1.0, 0.0])
    for i in range(n):
        act = rng.uniform(-1, 1, size=1)
        nxt = np.array([state[0] + 0.1 * state[1], 0.95 * state[1] + 0.1 * act[0]])
        reward = -(state[0] ** 2 + 0.1 * state[1] ** 2 + 0.01 * act[0] ** 2)
        replay.append((state, act, [reward], nxt))
        state = rng.normal(size=2) if (i + 1) % 25 == 0 else nxt
    return list(replay)


if __name__ == "__main__":
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    replay = fill_replay(300, rng)
    trainer = SACTrainer()
    for update in range(30):
        picks = rng.integers(0, len(replay), size=32)
        columns = zip(*(replay[i] for i in picks))
        batch = [torch.tensor(np.array(c), dtype=torch.float32) for c in columns]
        q1, q2, pi = trainer.train_from_batch(*batch)
        if update % 10 == 0:
            print(f"{update:3d}  qf1 {q1:.3f}  qf2 {q2:.3f}  policy {pi:.3f}")
