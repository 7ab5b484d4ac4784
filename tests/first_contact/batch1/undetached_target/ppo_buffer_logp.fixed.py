import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Normal


class RolloutBuffer(object):
    FIELDS = ("obs", "act", "logp", "rew", "val")

    def __init__(self):
        self.clear()

    def clear(self):
        self.data = {k: [] for k in self.FIELDS}

    def add(self, **kw):
        for k, v in kw.items():
            self.data[k].append(v)

    def get(self, gamma=0.99, lam=0.95):
        rew, val = np.array(self.data["rew"]), np.array(self.data["val"] + [0.0])
        adv, last = np.zeros(len(rew)), 0.0
        for t in range(len(rew) - 1, -1, -1):
            delta = rew[t] + gamma * val[t + 1] - val[t]
            adv[t] = last = delta + gamma * lam * last
        ret = adv + val[:-1]
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        as_t = lambda x: torch.as_tensor(x, dtype=torch.float32)
        return {"obs": torch.stack(self.data["obs"]), "act": torch.stack(self.data["act"]),
                "logp": torch.stack(self.data["logp"]), "adv": as_t(adv), "ret": as_t(ret)}


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, act_dim, hid=24):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(obs_dim, hid), nn.Tanh(), nn.Linear(hid, act_dim))
        self.v = nn.Sequential(nn.Linear(obs_dim, hid), nn.Tanh(), nn.Linear(hid, 1))
        self.log_std = nn.Parameter(-0.5 * torch.ones(act_dim))

    def dist(self, obs):
        return Normal(self.pi(obs), self.log_std.exp())

    def act(self, obs):
        d = self.dist(obs)
        a = d.sample()
        return a, d.log_prob(a).sum(-1), self.v(obs).item()


def rollout(ac, buf, rng, steps=32):
    x = rng.randn(3)
    for _ in range(steps):
        obs = torch.as_tensor(x, dtype=torch.float32)
        a, logp, v = ac.act(obs)
        buf.add(obs=obs, act=a, logp=logp, val=v, rew=-float((x ** 2).sum()))
        x = 0.8 * x + 0.2 * np.append(a.numpy(), 0.0) + 0.05 * rng.randn(3)


def ppo_update(ac, opt, data, clip=0.2, iters=4):
    old_logp = data["logp"].detach()
    for i in range(iters):
        d = ac.dist(data["obs"])
        logp = d.log_prob(data["act"]).sum(-1)
        ratio = torch.exp(logp - old_logp)
        surr = torch.min(ratio * data["adv"], ratio.clamp(1 - clip, 1 + clip) * data["adv"])
        v_loss = (ac.v(data["obs"]).squeeze(-1) - data["ret"]).pow(2).mean()
        loss = -surr.mean() + 0.5 * v_loss - 0.01 * d.entropy().sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(ac.parameters(), 0.5)
        opt.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    rng = np.random.RandomState(0)
    ac, buf = ActorCritic(3, 2), RolloutBuffer()
    opt = torch.optim.Adam(ac.parameters(), lr=1e-2)
    for epoch in range(3):
        buf.clear()
        rollout(ac, buf, rng)
        print("epoch", epoch, "loss %.4f" % ppo_update(ac, opt, buf.get()))
