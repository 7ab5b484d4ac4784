"""PPO with a shared torso: the policy's and the value's losses have an optimizer each."""
from types import SimpleNamespace

import torch
import torch.nn as nn
from torch.distributions import Categorical

cfg = SimpleNamespace(envs=8, horizon=10, epochs=2, clip=0.2, gamma=0.95, lam=0.9, seed=17)


class Torso(nn.Module):
    def __init__(self, obs, width=32):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(obs, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())

    def forward(self, x):
        return self.layers(x)


class Agent(nn.Module):
    def __init__(self, obs, actions):
        super().__init__()
        self.torso = Torso(obs)
        self.pi = nn.Linear(32, actions)
        self.v = nn.Linear(32, 1)

    def forward(self, obs):
        f = self.torso(obs)
        return Categorical(logits=self.pi(f)), self.v(f).squeeze(-1)


class Drift:
    """The state drifts by the action; staying near zero pays."""

    def __init__(self, n):
        self.state = torch.randn(n, 2)

    def step(self, action):
        self.state = 0.95 * self.state + 0.3 * (action.float()[:, None] - 1) + 0.1 * torch.randn_like(self.state)
        return self.state, -self.state.pow(2).sum(-1)


@torch.no_grad()
def rollout(env, agent):
    obs, steps = env.state, []
    for _ in range(cfg.horizon):
        dist, value = agent(obs)
        action = dist.sample()
        nxt, reward = env.step(action)
        steps.append((obs, action, dist.log_prob(action), value, reward))
        obs = nxt
    last = agent(obs)[1]
    o, a, lp, v, r = map(torch.stack, zip(*steps))
    adv, running = torch.zeros_like(r), 0.0
    for t in reversed(range(cfg.horizon)):
        delta = r[t] + cfg.gamma * (v[t + 1] if t + 1 < cfg.horizon else last) - v[t]
        running = delta + cfg.gamma * cfg.lam * running
        adv[t] = running
    return [t.flatten(0, 1) for t in (o, a, lp, adv, adv + v)]


torch.manual_seed(cfg.seed)
env, agent = Drift(cfg.envs), Agent(2, 3)
pi_opt = torch.optim.Adam([*agent.torso.parameters(), *agent.pi.parameters()], lr=1e-3)
v_opt = torch.optim.Adam([*agent.torso.parameters(), *agent.v.parameters()], lr=1e-3)

for update in range(3):
    obs, act, old, adv, ret = rollout(env, agent)
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(cfg.epochs):
        dist, value = agent(obs)
        ratio = (dist.log_prob(act) - old).exp()
        pi_loss = -torch.min(ratio * adv, ratio.clamp(1 - cfg.clip, 1 + cfg.clip) * adv).mean()
        v_loss = 0.5 * (value - ret).pow(2).mean()

        pi_opt.zero_grad()
        pi_loss.backward()
        pi_opt.step()

        v_loss = 0.5 * (agent(obs)[1] - ret).pow(2).mean()
        v_opt.zero_grad()
        v_loss.backward()
        v_opt.step()
    print(update, f"pi {pi_loss.item():+.4f} v {v_loss.item():.4f}")
