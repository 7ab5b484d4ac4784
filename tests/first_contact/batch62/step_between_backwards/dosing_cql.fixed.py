


"""Conservative Q-learning on logged insulin-dosing decisions (synthetic log)."""
import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

OBS, ACT = 6, 2


def mlp(i, o, h=32):
    return nn.Sequential(nn.Linear(i, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, o))


class Gaussian(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(OBS, 2 * ACT)

    def sample(self, obs):
        mean, log_std = self.net(obs).chunk(2, dim=-1)
        dist = torch.distributions.Normal(mean, log_std.clamp(-4, 1).exp())
        raw = dist.rsample()
        logp = dist.log_prob(raw) - torch.log1p(-torch.tanh(raw) ** 2 + 1e-6)
        return torch.tanh(raw), logp.sum(-1)


class Twin(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.ModuleList([mlp(OBS + ACT, 1) for _ in range(2)])

    def forward(self, obs, act):
        x = torch.cat([obs, act], dim=-1)
        return tuple(q(x).squeeze(-1) for q in self.q)


class TrainerBase:
    gamma, tau = 0.97, 0.01

    def __init__(self, log, lr=1e-3, batch=32):
        self.log, self.batch, self.rng = log, batch, np.random.default_rng(0)
        self.actor, self.critic = Gaussian(), Twin()
        self.target = copy.deepcopy(self.critic).requires_grad_(False)
        self.optimizers = {"critic": torch.optim.Adam(self.critic.parameters(), lr=lr)}
        self.optimizers["actor"] = torch.optim.Adam(self.actor.parameters(), lr=lr / 3)

    def draw(self):
        rows = self.rng.integers(0, len(self.log["rew"]), self.batch)
        return {k: v[rows] for k, v in self.log.items()}

    def critic_loss(self, b):
        with torch.no_grad():
            nxt, logp = self.actor.sample(b["nxt"])
            soft = torch.minimum(*self.target(b["nxt"], nxt)) - self.alpha * logp
            y = b["rew"] + self.gamma * (1 - b["end"]) * soft
        return sum(F.mse_loss(q, y) for q in self.critic(b["obs"], b["act"]))

    def actor_loss(self, b):
        act, logp = self.actor.sample(b["obs"])
        q = torch.minimum(*self.critic(b["obs"], act))
        return (self.alpha * logp - q).mean()

    def losses(self, b):
        return {"critic": self.critic_loss(b), "actor": self.actor_loss(b)}

    def update(self):
        b = self.draw()
        losses = self.losses(b)
        for name, opt in reversed(self.optimizers.items()):
            opt.zero_grad()
            losses[name].backward()
            opt.step()
        with torch.no_grad():
            for t, p in zip(self.target.parameters(), self.critic.parameters()):
                t.lerp_(p, self.tau)
        return {k: v.item() for k, v in losses.items()}


class FixedTemperature:
    alpha = 0.1


class ConservativeMixin:
    cql_weight, proposals = 1.0, 4

    def critic_loss(self, b):
        bellman = super().critic_loss(b)
        tiled = b["obs"].repeat_interleave(self.proposals, 0)
        uniform = torch.rand(len(tiled), ACT) * 2 - 1
        own, _ = (t.detach() for t in self.actor.sample(tiled))
        gap = 0.0
        for data_q, *ood in zip(self.critic(b["obs"], b["act"]),
                                self.critic(tiled, uniform), self.critic(tiled, own)):
            stacked = torch.cat([q.view(-1, self.proposals) for q in ood], dim=1)
            gap = gap + (stacked.logsumexp(1) - data_q).mean()
        return bellman + self.cql_weight * gap


class DosingCQL(ConservativeMixin, FixedTemperature, TrainerBase):
    pass


def make_log(n=500):
    obs, act = torch.randn(n, OBS), torch.rand(n, ACT) * 2 - 1
    nxt = 0.9 * obs + 0.2 * F.pad(act, (0, OBS - ACT)) + 0.05 * torch.randn(n, OBS)
    return {"obs": obs, "act": act, "nxt": nxt, "rew": -nxt[:, 0].abs(), "end": (torch.rand(n) < 0.05).float()}


if __name__ == "__main__":
    torch.manual_seed(77)
    trainer = DosingCQL(make_log())
    for it in range(8):
        stats = trainer.update()
        if it % 4 == 3:
            print(it, {k: round(v, 3) for k, v in stats.items()})
