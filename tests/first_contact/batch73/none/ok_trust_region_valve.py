# expect: pattern = none
# expect: raises = nothing
"""Trust region policy search for a mixing valve: conjugate gradients on Fisher-vector products, line search."""
import torch
from torch import nn
from torch.distributions import Normal, kl_divergence
from torch.nn.utils import parameters_to_vector, vector_to_parameters


class ValvePolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 1))
        self.log_std = nn.Parameter(torch.zeros(1))

    def forward(self, obs):
        return Normal(self.mean(obs), self.log_std.exp())


def rollout(policy, n, gen, horizon=12):
    state = torch.randn(n, 2, generator=gen)
    obs, acts, rewards = [], [], []
    with torch.no_grad():
        for _ in range(horizon):
            action = policy(state).sample()
            obs.append(state)
            acts.append(action)
            rewards.append(-(state[:, 0] ** 2) - 0.05 * action[:, 0].clamp(-3, 3) ** 2)
            drive = torch.cat([state[:, 1:], action.clamp(-3, 3)], 1)
            state = state + 0.2 * drive - 0.02 * state
    togo = torch.stack(rewards).flip(0).cumsum(0).flip(0)
    advantage = (togo - togo.mean(1, keepdim=True)) / (togo.std() + 1e-6)
    return torch.cat(obs), torch.cat(acts), advantage.flatten(), togo[0].mean().item()


def conjugate_gradient(product, b, iters=8):
    x, r, p = torch.zeros_like(b), b.clone(), b.clone()
    rr = r @ r
    for _ in range(iters):
        Ap = product(p)
        alpha = rr / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        new = r @ r
        p = r + new / rr * p
        rr = new
    return x


def flat_grad(y, params, **kwargs):
    return torch.cat([g.reshape(-1) for g in torch.autograd.grad(y, params, **kwargs)])


def trpo_step(policy, obs, acts, advantage, max_kl=0.01, damping=0.1):
    params = list(policy.parameters())
    dist = policy(obs)
    logp = dist.log_prob(acts).sum(-1)
    old_logp, old = logp.detach(), Normal(dist.loc.detach(), dist.scale.detach())
    surrogate = ((logp - old_logp).exp() * advantage).mean()
    gradient = flat_grad(surrogate, params, retain_graph=True)
    slope = flat_grad(kl_divergence(old, dist).mean(), params, create_graph=True)

    def fisher(v):
        return flat_grad(slope @ v, params, retain_graph=True) + damping * v

    direction = conjugate_gradient(fisher, gradient)
    scale = torch.sqrt(2 * max_kl / (direction @ fisher(direction)))
    start = parameters_to_vector(params).detach()
    with torch.no_grad():
        for k in range(8):
            vector_to_parameters(start + 0.5 ** k * scale * direction, params)
            new = policy(obs)
            gain = ((new.log_prob(acts).sum(-1) - old_logp).exp() * advantage).mean() - surrogate
            if gain > 0 and kl_divergence(old, new).mean() < 1.5 * max_kl:
                return k
        vector_to_parameters(start, params)
    return -1


torch.manual_seed(300)
gen = torch.Generator().manual_seed(301)
policy = ValvePolicy()
for it in range(10):
    obs, acts, advantage, score = rollout(policy, 32, gen)
    halvings = trpo_step(policy, obs, acts, advantage)
    print(f"iteration {it}: return {score:.2f}, halvings {halvings}")
