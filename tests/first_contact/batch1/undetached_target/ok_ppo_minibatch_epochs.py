"""Clipped policy gradient on a contextual bandit; several epochs over one rollout."""
import torch
import torch.nn as nn
from torch.distributions import Categorical


class Rollout(dict):
    __getattr__ = dict.__getitem__

    def minibatches(self, size):
        n = len(self["obs"])
        for idx in torch.randperm(n).split(size):
            yield Rollout({k: v[idx] for k, v in self.items()})


def collect(policy, value, n=64):
    obs = torch.randn(n, 3)
    dist = Categorical(logits=policy(obs))
    act = dist.sample()
    rew = (act == obs.argmax(1)).float()
    v = value(obs).squeeze(1)
    return Rollout(obs=obs, act=act, old=dist.log_prob(act).detach(), adv=(rew - v).detach(), ret=rew)


torch.manual_seed(15)
policy = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 3))
value = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=0.01)

rewards = []
for it in range(8):
    data = collect(policy, value)
    rewards.append(data.ret.mean().item())
    for _ in range(3):
        for mb in data.minibatches(16):
            dist = Categorical(logits=policy(mb.obs))
            ratio = (dist.log_prob(mb.act) - mb.old).exp()
            pg = -torch.min(ratio * mb.adv, ratio.clamp(0.8, 1.2) * mb.adv).mean()
            vf = (value(mb.obs).squeeze(1) - mb.ret).pow(2).mean()
            loss = pg + 0.5 * vf - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
print("reward %.2f -> %.2f" % (rewards[0], rewards[-1]))
