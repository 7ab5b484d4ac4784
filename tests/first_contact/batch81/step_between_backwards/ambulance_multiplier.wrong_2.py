"""Where to station ambulances: short ways, under a limit on the hours of overtime."""
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.distributions import Categorical


@dataclass
class Config:
    stations: int = 6
    shifts: int = 64
    limit: float = 0.35
    lr_policy: float = 0.01
    lr_multiplier: float = 0.05
    updates: int = 30


class Dispatcher(nn.Module):
    def __init__(self, n_in, stations):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, 32), nn.Tanh())
        self.logits = nn.Linear(32, stations)

    def forward(self, calls):
        return Categorical(logits=self.logits(self.body(calls)))


class County:
    def __init__(self, config, generator):
        self.config, self.generator = config, generator
        self.sites = torch.rand(config.stations, 2, generator=generator)
        self.overtime = torch.rand(config.stations, generator=generator)

    def shift(self):
        return torch.rand(self.config.shifts, 4, generator=self.generator)

    def outcome(self, calls, station):
        way = (self.sites[station] - calls[:, :2]).norm(dim=1)
        return -way, self.overtime[station] * (0.5 + calls[:, 2])


class SafeTrainer:
    def __init__(self, policy, county, config):
        self.policy, self.county, self.config = policy, county, config
        self.multiplier = nn.Parameter(torch.tensor(0.5))
        self.policy_opt = torch.optim.Adam(policy.parameters(), lr=config.lr_policy)
        self.dual_opt = torch.optim.SGD([self.multiplier], lr=config.lr_multiplier)

    def surrogate(self, log_prob, signal):
        return (log_prob * (signal - signal.mean())).mean()

    def update(self):
        calls = self.county.shift()
        dist = self.policy(calls)
        station = dist.sample()
        reward, hours = self.county.outcome(calls, station)
        log_prob = dist.log_prob(station)
        gain = self.surrogate(log_prob, reward)
        burden = self.surrogate(log_prob, hours)
        policy_loss = -(gain - self.multiplier * burden.detach())
        dual_loss = -self.multiplier * (hours.mean() - self.config.limit)

        self.dual_opt.zero_grad()
        dual_loss.backward()
        self.dual_opt.step()

        self.policy_opt.zero_grad()
        policy_loss.backward()
        self.policy_opt.step()
        return reward.mean().item(), hours.mean().item()


def main():
    torch.manual_seed(2)
    config = Config()
    county = County(config, torch.Generator().manual_seed(2))
    trainer = SafeTrainer(Dispatcher(4, config.stations), county, config)
    for update in range(config.updates):
        reward, hours = trainer.update()
        if update % 10 == 9:
            print(f"{update + 1}: reward {reward:.3f} overtime {hours:.3f} "
                  f"multiplier {trainer.multiplier.item():.3f}")


if __name__ == "__main__":
    main()
