from dataclasses import dataclass, field

import torch
from torch import nn
from torch.distributions import Categorical


class Cutter(nn.Module):
    def __init__(self, n_obs, n_act, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_obs, width), nn.Tanh())
        self.pi = nn.Linear(width, n_act)
        self.v = nn.Linear(width, 1)

    def dist_and_value(self, obs):
        h = self.trunk(obs)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)

    def act(self, obs):
        dist, value = self.dist_and_value(obs)
        action = dist.sample()
        return action, dist.log_prob(action), value.item()


@dataclass
class Ledger:
    obs: list = field(default_factory=list)
    actions: list = field(default_factory=list)
    logps: list = field(default_factory=list)
    values: list = field(default_factory=list)
    incomes: list = field(default_factory=list)
    ends: list = field(default_factory=list)

    def enter(self, obs, action, logp, value, income, end):
        self.obs.append(obs)
        self.actions.append(action)
        self.logps.append(logp)
        self.values.append(value)
        self.incomes.append(income)
        self.ends.append(end)

    def advantages(self, gamma=0.97, lam=0.9):
        adv, running, following = [], 0.0, 0.0
        for value, income, end in zip(self.values[::-1], self.incomes[::-1], self.ends[::-1]):
            if end:
                running, following = 0.0, 0.0
            delta = income + gamma * following - value
            running = delta + gamma * lam * running
            following = value
            adv.append(running)
        return torch.tensor(adv[::-1])

    def tensors(self):
        adv = self.advantages()
        returns = adv + torch.tensor(self.values)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        return (torch.stack(self.obs), torch.stack(self.actions),
                torch.stack(self.logps), adv, returns)
