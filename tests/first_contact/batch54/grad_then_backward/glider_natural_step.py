# expect: pattern = grad-then-backward
# expect: also = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = feat, pg
"""Soaring in a thermal with a natural policy gradient.

The actor's step is preconditioned with the Fisher matrix (conjugate gradients on
Fisher-vector products); the critic shares the trunk and adds its plain gradient.
"""
import torch
import torch.nn as nn
from torch.distributions import Normal, kl_divergence
from torch.nn.utils import parameters_to_vector

torch.manual_seed(17)
CONF = {"gliders": 64, "horizon": 12, "updates": 15, "lr": 0.05, "damping": 0.1, "gamma": 0.95}


class Pilot(nn.Module):
    def __init__(self, n_state=3, width=24):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_state, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.bank = nn.Linear(width, 1)
        self.log_std = nn.Parameter(torch.full((1,), -0.5))
        self.critic = nn.Linear(width, 1)

    def policy_parameters(self):
        return [*self.trunk.parameters(), *self.bank.parameters(), self.log_std]

    def forward(self, state):
        feat = self.trunk(state)  # expect: place
        dist = Normal(self.bank(feat).squeeze(-1), self.log_std.exp())
        return dist, self.critic(feat).squeeze(-1)


@torch.no_grad()
def fly(pilot, cfg):
    """Roll a flock out; reward is the lift at the distance from the core."""
    offset = 2.0 * torch.randn(cfg["gliders"])
    drift = 0.2 * torch.randn(cfg["gliders"])
    states, actions, rewards = [], [], []
    for t in range(cfg["horizon"]):
        clock = torch.full_like(offset, t / cfg["horizon"])
        state = torch.stack([offset, drift, clock], dim=1)
        action = pilot(state)[0].sample()
        drift = 0.8 * drift + 0.4 * action.clamp(-2, 2)
        offset = offset + drift
        states.append(state)
        actions.append(action)
        rewards.append(torch.exp(-0.5 * offset ** 2) - 0.02 * action ** 2)
    returns, acc = [], torch.zeros(cfg["gliders"])
    for r in reversed(rewards):
        acc = r + cfg["gamma"] * acc
        returns.insert(0, acc)
    return torch.cat(states), torch.cat(actions), torch.cat(returns), torch.stack(rewards).sum(0).mean()


def fisher_vector(pilot, states, vec, damping):
    params = pilot.policy_parameters()
    dist, _ = pilot(states)
    frozen = Normal(dist.loc.detach(), dist.scale.detach())
    kl = kl_divergence(frozen, dist).mean()
    first = torch.autograd.grad(kl, params, create_graph=True)
    second = torch.autograd.grad((parameters_to_vector(first) * vec).sum(), params)
    return parameters_to_vector([s.contiguous() for s in second]) + damping * vec


def conjugate_gradients(apply, b, iters=6):
    x, r, p = torch.zeros_like(b), b.clone(), b.clone()
    rr = r @ r
    for _ in range(iters):
        ap = apply(p)
        alpha = rr / (p @ ap)
        x, r = x + alpha * p, r - alpha * ap
        new = r @ r
        p, rr = r + new / rr * p, new
    return x


pilot = Pilot()
opt = torch.optim.SGD(pilot.parameters(), lr=CONF["lr"])
for update in range(CONF["updates"]):
    states, actions, returns, score = fly(pilot, CONF)
    dist, value = pilot(states)
    adv = returns - value.detach()
    adv = (adv - adv.mean()) / adv.std()
    policy_loss = -(dist.log_prob(actions) * adv).mean()
    value_loss = 0.5 * (value - returns).pow(2).mean()

    pg = torch.autograd.grad(policy_loss, pilot.policy_parameters())  # expect: place
    flat = parameters_to_vector([g.contiguous() for g in pg])
    nat = conjugate_gradients(lambda v: fisher_vector(pilot, states, v, CONF["damping"]), flat)

    opt.zero_grad()
    value_loss.backward()  # expect: place
    start = 0
    for p in pilot.policy_parameters():
        piece = nat[start:start + p.numel()].view_as(p)
        p.grad = piece.clone() if p.grad is None else p.grad + piece
        start += p.numel()
    opt.step()
    print(f"update {update:2d}  climb {score.item():6.3f}  critic {value_loss.item():.3f}")
