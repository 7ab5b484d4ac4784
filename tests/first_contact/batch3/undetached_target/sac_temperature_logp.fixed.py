"""Soft actor-critic with a learned temperature, on transitions from a toy linear system."""
import copy
import random
from collections import deque
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal


@dataclass
class Hyper:
    gamma: float = 0.97
    tau: float = 0.02
    lr: float = 1e-3
    batch: int = 32


def mlp(a, b):
    return nn.Sequential(nn.Linear(a, 32), nn.ReLU(), nn.Linear(32, b))


class Policy(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.body = mlp(obs, 2 * act)

    def sample(self, obs):
        mean, log_std = self.body(obs).chunk(2, -1)
        dist = Normal(mean, log_std.clamp(-4, 1).exp())
        raw = dist.rsample()
        action = torch.tanh(raw)
        logp = dist.log_prob(raw) - torch.log1p(-action.pow(2) + 1e-6)
        return action, logp.sum(-1, keepdim=True)


class SAC:
    def __init__(self, obs=3, act=1, hyper=Hyper()):
        self.h = hyper
        self.policy, self.q = Policy(obs, act), mlp(obs + act, 2)
        self.q_target = copy.deepcopy(self.q).requires_grad_(False)
        self.log_alpha = torch.zeros((), requires_grad=True)
        self.entropy_goal = -float(act)
        self.opts = {
            "q": torch.optim.Adam(self.q.parameters(), hyper.lr),
            "pi": torch.optim.Adam(self.policy.parameters(), hyper.lr),
            "alpha": torch.optim.Adam([self.log_alpha], hyper.lr),
        }

    def _apply(self, key, loss):
        self.opts[key].zero_grad()
        loss.backward()
        self.opts[key].step()
        return loss.item()

    def update(self, s, a, r, s2):
        alpha = self.log_alpha.exp().detach()
        with torch.no_grad():
            a2, logp2 = self.policy.sample(s2)
            v2 = self.q_target(torch.cat([s2, a2], -1)).min(-1, keepdim=True).values - alpha * logp2
            y = r + self.h.gamma * v2
        info = {"q": self._apply("q", F.mse_loss(self.q(torch.cat([s, a], -1)), y.expand(-1, 2)))}

        new, logp = self.policy.sample(s)
        q_new = self.q(torch.cat([s, new], -1)).min(-1, keepdim=True).values
        info["pi"] = self._apply("pi", (alpha * logp - q_new).mean())
        info["alpha"] = self._apply("alpha", -(self.log_alpha * (logp.detach() + self.entropy_goal)).mean())

        with torch.no_grad():
            for t, p in zip(self.q_target.parameters(), self.q.parameters()):
                t.lerp_(p, self.h.tau)
        return info


if __name__ == "__main__":
    torch.manual_seed(6)
    random.seed(6)
    agent, memory, s = SAC(), deque(maxlen=500), torch.randn(3)
    for t in range(60):
        with torch.no_grad():
            a, _ = agent.policy.sample(s)
        s2 = 0.9 * s + 0.2 * a + 0.05 * torch.randn(3)
        memory.append((s, a, -s2.pow(2).mean().view(1), s2))
        s = s2
        if len(memory) > 40:
            batch = map(torch.stack, zip(*random.sample(memory, agent.h.batch)))
            info = agent.update(*batch)
    print({k: round(v, 4) for k, v in info.items()}, "alpha %.4f" % agent.log_alpha.exp().item())
