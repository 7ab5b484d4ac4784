# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = mem
"""PPO with a spiking actor (leaky integrate-and-fire, arctan surrogate) and a dense critic."""
import math

import torch
import torch.nn as nn
from torch.distributions import Normal

T_SIM, N_ENVS, HORIZON, EPOCHS, CLIP = 4, 32, 8, 3, 0.2


class ATan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).float()

    @staticmethod
    def backward(ctx, grad):
        (v,) = ctx.saved_tensors
        return grad / (1 + (math.pi * v).pow(2))


class Leaky(nn.Module):
    def __init__(self, beta=0.8, threshold=1.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold
        self.mem = 0.0

    def reset_mem(self):
        self.mem = 0.0

    def forward(self, current):
        self.mem = self.beta * self.mem + current  # expect: place
        spk = ATan.apply(self.mem - self.threshold)
        self.mem = self.mem - spk.detach() * self.threshold  # expect: place
        return spk


class SpikingActor(nn.Module):
    def __init__(self, n_obs, n_act, hidden=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_obs, hidden), Leaky(), nn.Linear(hidden, hidden), Leaky(),
        )
        self.decoder = nn.Linear(hidden, n_act)
        self.log_std = nn.Parameter(torch.full((n_act,), -0.5))

    def reset(self):
        for m in self.net:
            if isinstance(m, Leaky):
                m.reset_mem()

    def forward(self, obs):
        rate = sum(self.net(obs) for _ in range(T_SIM)) / T_SIM  # expect: place
        return Normal(self.decoder(rate), self.log_std.exp())


class DriftEnv:
    """N independent particles that should be pushed to the origin."""

    def reset(self):
        self.x = torch.randn(N_ENVS, 2)
        return self.x

    def step(self, a):
        self.x = self.x + 0.2 * a.clamp(-2, 2) + 0.02 * torch.randn_like(self.x)
        return self.x, -self.x.norm(dim=1)


@torch.no_grad()
def rollout(env, obs, actor, critic):
    data = {k: [] for k in ("obs", "act", "logp", "rew", "val")}
    for _ in range(HORIZON):
        actor.reset()
        dist = actor(obs)
        act = dist.sample()
        nxt, rew = env.step(act)
        for k, v in zip(data, (obs, act, dist.log_prob(act).sum(-1), rew, critic(obs).squeeze(-1))):
            data[k].append(v)
        obs = nxt
    ret, rets = critic(obs).squeeze(-1), []
    for r in reversed(data["rew"]):
        ret = r + 0.95 * ret
        rets.insert(0, ret)
    flat = {k: torch.cat(v) for k, v in data.items()}
    flat["ret"] = torch.cat(rets)
    adv = flat["ret"] - flat["val"]
    flat["adv"] = (adv - adv.mean()) / (adv.std() + 1e-8)
    return obs, flat


def update(batch, actor, critic, opt):
    n = batch["obs"].shape[0]
    for _ in range(EPOCHS):
        actor.reset()  # expect: place
        for idx in torch.randperm(n).split(64):
            dist = actor(batch["obs"][idx])  # expect: place
            logp = dist.log_prob(batch["act"][idx]).sum(-1)
            ratio = (logp - batch["logp"][idx]).exp()
            adv = batch["adv"][idx]
            pg = -torch.min(ratio * adv, ratio.clamp(1 - CLIP, 1 + CLIP) * adv).mean()
            vf = (critic(batch["obs"][idx]).squeeze(-1) - batch["ret"][idx]).pow(2).mean()
            loss = pg + 0.5 * vf - 1e-3 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()  # expect: place
            opt.step()


torch.manual_seed(0)
actor = SpikingActor(2, 2)
critic = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-3)
env = DriftEnv()
obs = env.reset()
for it in range(4):
    obs, batch = rollout(env, obs, actor, critic)
    update(batch, actor, critic, opt)
    print(f"iter {it}: mean reward {batch['rew'].mean():.3f}")
