"""Where should the divers cull urchins? Advantage actor-critic on a toy kelp coast, 16 coasts at once."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

BAYS = 5


@dataclass
class Config:
    coasts: int = 16
    horizon: int = 12
    updates: int = 25
    gamma: float = 0.95
    lam: float = 0.9
    value_coef: float = 0.5
    entropy_coef: float = 0.01
    lr: float = 4e-3


class KelpCoast:
    """Kelp grows logistically, urchins graze; a visit clears most urchins of one bay."""

    def __init__(self, n):
        self.kelp = 0.3 + 0.5 * torch.rand(n, BAYS)
        self.urchins = 0.6 * torch.rand(n, BAYS)

    def see(self):
        return torch.cat([self.kelp, self.urchins], dim=1)

    def visit(self, bay):
        cleared = F.one_hot(bay, BAYS).float()
        self.urchins = self.urchins * (1 - 0.8 * cleared)
        growth = 0.4 * self.kelp * (1 - self.kelp) - 0.5 * self.urchins * self.kelp
        self.kelp = (self.kelp + growth).clamp(0.02, 1.0)
        self.urchins = (self.urchins * 1.15 + 0.02 * torch.rand_like(self.urchins)).clamp(max=1.0)
        return self.kelp.mean(1) - 0.3


class Divers(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2 * BAYS, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.pi = nn.Linear(hidden, BAYS)
        self.v = nn.Linear(hidden, 1)

    def forward(self, obs):
        h = self.body(obs)
        return torch.distributions.Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


def gae(rewards, values, last, gamma, lam):
    """Generalised advantages, and the lambda-returns that the critic is fitted to."""
    advantages = []
    running = torch.zeros_like(last)
    following = last
    for r, v in zip(reversed(rewards), reversed(values)):
        delta = r + gamma * following - v
        running = delta + gamma * lam * running
        advantages.insert(0, running)
        following = v
    advantages = torch.stack(advantages)
    return advantages, advantages + torch.stack(values)


def rollout(coast, net, cfg):
    logps, values, rewards, entropies = [], [], [], []
    for _ in range(cfg.horizon):
        dist, value = net(coast.see())
        bay = dist.sample()
        rewards.append(coast.visit(bay))
        logps.append(dist.log_prob(bay))
        entropies.append(dist.entropy())
        values.append(value)
    _, last = net(coast.see())
    return torch.stack(logps), values, rewards, torch.stack(entropies), last


def main(cfg=Config()):
    torch.manual_seed(8)
    net = Divers()
    opt = torch.optim.RMSprop(net.parameters(), lr=cfg.lr)
    coast = KelpCoast(cfg.coasts)
    best, kept = -1e9, None
    for update in range(cfg.updates):
        if update % 5 == 0:
            coast = KelpCoast(cfg.coasts)
        logps, values, rewards, entropies, last = rollout(coast, net, cfg)
        adv, returns = gae(rewards, values, last, cfg.gamma, cfg.lam)
        policy_loss = -(logps * adv).mean()
        value_loss = F.mse_loss(torch.stack(values), returns.detach())
        loss = policy_loss + cfg.value_coef * value_loss - cfg.entropy_coef * entropies.mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        reward = torch.stack(rewards).mean().item()
        if reward > best:
            best, kept = reward, {k: t.clone() for k, t in net.state_dict().items()}
        if update % 6 == 0:
            print(f"{update:3d} reward {reward:+.3f} policy {policy_loss.item():+.3f} value {value_loss.item():.4f}")
    net.load_state_dict(kept)
    print(f"best {best:+.3f}")


if __name__ == "__main__":
    main()
