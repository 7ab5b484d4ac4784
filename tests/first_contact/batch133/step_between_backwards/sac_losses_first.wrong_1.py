"""Soft actor-critic on a small point-mass task, all losses worked out up front."""
from collections import namedtuple
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

Batch = namedtuple("Batch", "obs act rew next_obs done")


@dataclass
class SACConfig:
    obs_dim: int = 4
    act_dim: int = 2
    hidden: int = 32
    gamma: float = 0.97
    tau: float = 0.02
    alpha: float = 0.1
    batch_size: int = 24
    updates: int = 6


def mlp(sizes):
    layers = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(n_in, n_out), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class TwinCritic(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.q1 = mlp([cfg.obs_dim + cfg.act_dim, cfg.hidden, cfg.hidden, 1])
        self.q2 = mlp([cfg.obs_dim + cfg.act_dim, cfg.hidden, cfg.hidden, 1])

    def forward(self, obs, act):
        x = torch.cat([obs, act], dim=-1)
        return self.q1(x).squeeze(-1), self.q2(x).squeeze(-1)


class SquashedPolicy(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.body = mlp([cfg.obs_dim, cfg.hidden, 2 * cfg.act_dim])

    def forward(self, obs):
        mean, log_std = self.body(obs).chunk(2, dim=-1)
        dist = torch.distributions.Normal(mean, log_std.clamp(-4, 1).exp())
        raw = dist.rsample()
        act = torch.tanh(raw)
        log_prob = dist.log_prob(raw) - torch.log(1 - act.pow(2) + 1e-6)
        return act, log_prob.sum(-1)


class Agent:
    def __init__(self, cfg):
        self.cfg = cfg
        self.policy = SquashedPolicy(cfg)
        self.critic = TwinCritic(cfg)
        self.critic_target = TwinCritic(cfg)
        self.critic_target.load_state_dict(self.critic.state_dict())
        self.policy_opt = torch.optim.Adam(self.policy.parameters(), lr=3e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=3e-3)

    def critic_loss(self, batch):
        with torch.no_grad():
            next_act, next_logp = self.policy(batch.next_obs)
            soft_v = torch.min(*self.critic_target(batch.next_obs, next_act)) - self.cfg.alpha * next_logp
            target = batch.rew + self.cfg.gamma * (1 - batch.done) * soft_v
        q1, q2 = self.critic(batch.obs, batch.act)
        return F.mse_loss(q1, target) + F.mse_loss(q2, target)

    def policy_loss(self, batch):
        act, logp = self.policy(batch.obs)
        q_pi = torch.min(*self.critic(batch.obs, act))
        return (self.cfg.alpha * logp - q_pi).mean()

    def update(self, batch):
        critic_loss = self.critic_loss(batch)
        policy_loss = self.policy_loss(batch)

        self.critic_opt.zero_grad()
        self.policy_opt.zero_grad()
        critic_loss.backward()
        policy_loss.backward()
        self.critic_opt.step()
        self.policy_opt.step()

        with torch.no_grad():
            for p, tp in zip(self.critic.parameters(), self.critic_target.parameters()):
                tp.lerp_(p, self.cfg.tau)
        return critic_loss.item(), policy_loss.item()


def replay(cfg):
    while True:
        obs = torch.randn(cfg.batch_size, cfg.obs_dim)
        act = torch.rand(cfg.batch_size, cfg.act_dim) * 2 - 1
        step = torch.cat([obs[:, 2:], act], dim=-1) * 0.1
        yield Batch(obs, act, -obs[:, :2].pow(2).sum(-1), obs + step, (torch.rand(cfg.batch_size) < 0.1).float())


def main():
    torch.manual_seed(7)
    cfg = SACConfig()
    agent = Agent(cfg)
    for i, batch in zip(range(cfg.updates), replay(cfg)):
        c, p = agent.update(batch)
        print(f"update {i}: critic {c:.4f} policy {p:.4f}")


if __name__ == "__main__":
    main()
