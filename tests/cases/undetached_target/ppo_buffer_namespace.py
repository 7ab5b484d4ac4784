# expect: pattern = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = buf, buf.adv, buf.logp, adv, logp
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
    logp, _, val = policy.evaluate(obs, act)  # expect: place
    ret = torch.randn(n)
    return SimpleNamespace(obs=obs, act=act, logp=logp, ret=ret, adv=ret - val)  # expect: place


torch.manual_seed(0)
policy = Policy()
opt = torch.optim.Adam(policy.parameters(), lr=3e-4)
for update in range(3):
    buf = rollout(policy, 16)  # expect: place
    for epoch in range(3):
        logp, ent, val = policy.evaluate(buf.obs, buf.act)
        ratio = (logp - buf.logp).exp()  # expect: place
        clipped = ratio.clamp(0.8, 1.2) * buf.adv  # expect: place
        loss = -torch.min(ratio * buf.adv, clipped).mean() + 0.5 * (buf.ret - val).pow(2).mean() - 0.01 * ent.mean()  # expect: place
        opt.zero_grad()
        loss.backward()  # expect: place
        opt.step()
