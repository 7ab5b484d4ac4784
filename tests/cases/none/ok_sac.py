# expect: pattern = none
# expect: raises = nothing
"""Soft actor-critic with twin critics, a target and a learned temperature."""
import copy

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(4)
OBS, ACT, GAMMA, TAU = 3, 1, 0.98, 0.01


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 24), nn.ReLU(), nn.Linear(24, o))


actor = mlp(OBS, 2 * ACT)
critics = nn.ModuleList([mlp(OBS + ACT, 1) for _ in range(2)])
targets = copy.deepcopy(critics).requires_grad_(False)
log_alpha = torch.zeros(1, requires_grad=True)
opt_actor = torch.optim.Adam(actor.parameters(), lr=1e-3)
opt_critic = torch.optim.Adam(critics.parameters(), lr=1e-3)
opt_alpha = torch.optim.Adam([log_alpha], lr=1e-3)


def act(obs):
    mu, log_std = actor(obs).chunk(2, dim=1)
    dist = Normal(mu, log_std.clamp(-5, 1).exp())
    raw = dist.rsample()
    a = torch.tanh(raw)
    return a, (dist.log_prob(raw) - torch.log1p(-a.pow(2) + 1e-6)).sum(1, keepdim=True)


def lowest(nets, obs, a):
    return torch.min(*[net(torch.cat([obs, a], 1)) for net in nets])


for step in range(4):
    obs, a, rew, nxt = torch.randn(20, OBS), torch.rand(20, ACT), torch.randn(20, 1), torch.randn(20, OBS)
    alpha = log_alpha.exp().detach()
    with torch.no_grad():
        na, nlogp = act(nxt)
        backup = rew + GAMMA * (lowest(targets, nxt, na) - alpha * nlogp)
    critic_loss = sum((net(torch.cat([obs, a], 1)) - backup).pow(2).mean() for net in critics)
    opt_critic.zero_grad()
    critic_loss.backward()
    opt_critic.step()

    critics.requires_grad_(False)
    pa, logp = act(obs)
    actor_loss = (alpha * logp - lowest(critics, obs, pa)).mean()
    opt_actor.zero_grad()
    actor_loss.backward()
    opt_actor.step()
    critics.requires_grad_(True)

    alpha_loss = -(log_alpha * (logp.detach() - ACT)).mean()
    opt_alpha.zero_grad()
    alpha_loss.backward()
    opt_alpha.step()
    with torch.no_grad():
        for p, t in zip(critics.parameters(), targets.parameters()):
            t.mul_(1 - TAU).add_(TAU * p)
    print(step, critic_loss.item(), actor_loss.item(), log_alpha.item())
