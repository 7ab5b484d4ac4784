# expect: pattern = undetached-target
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = old_logp, logp, values, adv, advantage, returns
"""Clipped policy optimisation for a two-link packet router; four passes over each collected batch."""
from dataclasses import dataclass, field

import torch
import torch.nn as nn
from torch.distributions import Bernoulli


@dataclass
class Settings:
    horizon: int = 32
    passes: int = 4
    minibatch: int = 8
    clip: float = 0.2
    gamma: float = 0.9
    lam: float = 0.8


@dataclass
class Rollout:
    obs: list = field(default_factory=list)
    act: list = field(default_factory=list)
    logp: list = field(default_factory=list)
    value: list = field(default_factory=list)
    reward: list = field(default_factory=list)

    def stacked(self):
        return [torch.stack(getattr(self, k)) for k in ("obs", "act", "logp", "value", "reward")]


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
        self.v = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))

    def dist(self, o):
        return Bernoulli(logits=self.pi(o).squeeze(-1))

    def value(self, o):
        return self.v(o).squeeze(-1)


class Links:
    def __init__(self):
        self.load = torch.zeros(2)

    def obs(self):
        return torch.cat([self.load, torch.rand(1)])

    def send(self, link):
        self.load = self.load * 0.7
        self.load[int(link)] += 1
        return -self.load.pow(2).sum()


def collect(env, net, cfg):
    roll = Rollout()
    for _ in range(cfg.horizon):
        o = env.obs()
        d = net.dist(o)
        a = d.sample()
        roll.obs.append(o)
        roll.act.append(a)
        roll.logp.append(d.log_prob(a))  # expect: place
        roll.value.append(net.value(o))  # expect: place
        roll.reward.append(env.send(a))
    return roll


def gae(rewards, values, cfg):
    adv, run = torch.zeros(len(rewards)), 0.0
    out = []
    for t in reversed(range(len(rewards))):
        nxt = values[t + 1] if t + 1 < len(rewards) else 0.0
        run = rewards[t] + cfg.gamma * nxt - values[t] + cfg.gamma * cfg.lam * run
        out.append(run)
    adv = torch.stack(out[::-1])
    return adv, adv + values


def improve(net, opt, roll, cfg):
    obs, act, old_logp, value, reward = roll.stacked()
    adv, ret = gae(reward, value, cfg)  # expect: place
    adv = (adv - adv.mean()) / (adv.std() + 1e-6)
    for _ in range(cfg.passes):
        for idx in torch.randperm(cfg.horizon).split(cfg.minibatch):
            d = net.dist(obs[idx])
            ratio = (d.log_prob(act[idx]) - old_logp[idx]).exp()
            surrogate = torch.min(ratio * adv[idx], ratio.clamp(1 - cfg.clip, 1 + cfg.clip) * adv[idx])
            loss = -surrogate.mean() + 0.5 * (net.value(obs[idx]) - ret[idx]).pow(2).mean()
            opt.zero_grad()
            loss.backward()  # expect: place
            opt.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(8)
    cfg, net, env = Settings(), Router(), Links()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for k in range(2):
        print(k, round(improve(net, opt, collect(env, net, cfg), cfg), 4))
