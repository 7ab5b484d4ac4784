"""REINFORCE on a bandit-like task with a moving baseline, an entropy bonus and a log."""
from collections import deque
from dataclasses import dataclass, field
from statistics import mean

import torch
import torch.nn as nn


@dataclass
class Baseline:
    value: torch.Tensor = field(default_factory=lambda: torch.zeros(()))
    rate: float = 0.1

    def advantage(self, rewards):
        adv = rewards - self.value
        self.value = self.value + self.rate * (rewards.mean() - self.value)
        return adv


@dataclass
class Log:
    rewards: deque = field(default_factory=lambda: deque(maxlen=20))
    losses: list = field(default_factory=list)

    def add(self, reward, loss):
        self.rewards.append(reward)
        self.losses.append(loss)


class Policy(nn.Module):
    def __init__(self, context=4, arms=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(context, 16), nn.Tanh(), nn.Linear(16, arms))

    def act(self, x):
        dist = torch.distributions.Categorical(logits=self.body(x))
        a = dist.sample()
        return a, dist.log_prob(a), dist.entropy()


def pay(x, a):
    return x[:, :3].gather(1, a[:, None]).squeeze(1) + 0.1 * torch.randn(len(x))


def main(iterations=25):
    torch.manual_seed(7)
    policy, baseline, log = Policy(), Baseline(), Log()
    opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
    for _ in range(iterations):
        x = torch.randn(32, 4)
        a, logp, entropy = policy.act(x)
        r = pay(x, a)
        loss = -(logp * baseline.advantage(r)).mean() - 0.01 * entropy.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.add(r.mean().item(), loss.item())
    print("reward %.3f baseline %.3f" % (mean(log.rewards), baseline.value))


if __name__ == "__main__":
    main()
