import copy
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)


def q_function():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))


actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
q1, q2 = q_function(), q_function()
target1, target2 = copy.deepcopy(q1), copy.deepcopy(q2)
log_alpha = torch.zeros(1, requires_grad=True)
opt_actor = torch.optim.Adam(actor.parameters(), lr=3e-4)
opt_q = torch.optim.Adam([*q1.parameters(), *q2.parameters()], lr=3e-4)
opt_alpha = torch.optim.Adam([log_alpha], lr=3e-4)


def sample(s):
    mu, log_std = actor(s).chunk(2, -1)
    dist = Normal(mu, log_std.clamp(-4, 1).exp())
    u = dist.rsample()
    a = torch.tanh(u)
    return a, (dist.log_prob(u) - torch.log(1 - a**2 + 1e-6)).sum(-1, keepdim=True)


for step in range(3):
    s, s2, r = torch.randn(8, 3), torch.randn(8, 3), torch.randn(8, 1)
    a = torch.rand(8, 1) * 2 - 1
    with torch.no_grad():
        a2, logp2 = sample(s2)
        sa2 = torch.cat([s2, a2], -1)
        y = r + 0.99 * (torch.min(target1(sa2), target2(sa2)) - log_alpha.exp() * logp2)
    sa = torch.cat([s, a], -1)
    opt_q.zero_grad()
    ((q1(sa) - y).pow(2).mean() + (q2(sa) - y).pow(2).mean()).backward()
    opt_q.step()
    new_a, logp = sample(s)
    new_sa = torch.cat([s, new_a], -1)
    opt_actor.zero_grad()
    (log_alpha.exp().detach() * logp - torch.min(q1(new_sa), q2(new_sa))).mean().backward()
    opt_actor.step()
    opt_alpha.zero_grad()
    (-log_alpha * (logp.detach() - 1.0)).mean().backward()
    opt_alpha.step()
