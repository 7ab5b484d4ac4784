from types import SimpleNamespace

import torch
from torch import nn
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(3, 10), nn.Tanh(), nn.Linear(10, 4))
        self.vf = nn.Sequential(nn.Linear(3, 10), nn.Tanh(), nn.Linear(10, 1))

    def evaluate(self, obs, act):
        dist = Categorical(logits=self.pi(obs))
        return dist.log_prob(act), dist.entropy(), self.vf(obs).squeeze(-1)


def rollout(policy, n):
    obs = torch.randn(n, 3)
    act = torch.randint(0, 4, (n,))
    logp, _, val = policy.evaluate(obs, act)
    ret = torch.randn(n)
    return SimpleNamespace(obs=obs, act=act, logp=logp, ret=ret, adv=ret - val)


torch.manual_seed(0)
policy = Policy()
opt = torch.optim.Adam(policy.parameters(), lr=3e-4)
for update in range(3):
    with torch.no_grad():
        buf = rollout(policy, 16)
    for epoch in range(3):
        logp, ent, val = policy.evaluate(buf.obs, buf.act)
        ratio = (logp - buf.logp).exp()
        clipped = ratio.clamp(0.8, 1.2) * buf.adv
        loss = -torch.min(ratio * buf.adv, clipped).mean() + 0.5 * (buf.ret - val).pow(2).mean() - 0.01 * ent.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
