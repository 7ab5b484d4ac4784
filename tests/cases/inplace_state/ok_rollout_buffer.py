# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn
from torch.distributions import Categorical


class RolloutBuffer:
    def __init__(self, horizon, obs_dim):
        self.obs = torch.zeros(horizon, obs_dim)
        self.act = torch.zeros(horizon, dtype=torch.long)
        self.rew = torch.zeros(horizon)
        self.val = torch.zeros(horizon + 1)
        self.logp = torch.zeros(horizon)
        self.i = 0

    def add(self, o, a, r, v, lp):
        self.obs[self.i] = o
        self.act[self.i] = a
        self.rew[self.i] = r
        self.val[self.i] = v
        self.logp[self.i] = lp
        self.i += 1

    def finish(self, last, gamma=0.99, lam=0.95):
        self.val[self.i] = last
        adv = torch.zeros(self.i)
        acc = 0.0
        for t in reversed(range(self.i)):
            delta = self.rew[t] + gamma * self.val[t + 1] - self.val[t]
            acc = delta + gamma * lam * acc
            adv[t] = acc
        adv -= adv.mean()
        adv /= adv.std() + 1e-8
        self.i = 0
        return adv, adv + self.val[:-1]


torch.manual_seed(0)
pi = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
vf = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam([*pi.parameters(), *vf.parameters()], lr=3e-4)
buf = RolloutBuffer(16, 4)

for update in range(3):
    o = torch.randn(4)
    for _ in range(16):
        with torch.no_grad():
            dist = Categorical(logits=pi(o))
            a = dist.sample()
            buf.add(o, a, torch.randn(()), vf(o).squeeze(), dist.log_prob(a))
        o = torch.randn(4)
    adv, ret = buf.finish(vf(o).item())
    for _ in range(3):
        ratio = (Categorical(logits=pi(buf.obs)).log_prob(buf.act) - buf.logp).exp()
        clipped = ratio.clamp(0.8, 1.2) * adv
        loss = -torch.min(ratio * adv, clipped).mean() + 0.5 * (vf(buf.obs).squeeze(-1) - ret).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(update, loss.item())
