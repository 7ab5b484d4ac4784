# expect: pattern = none
# expect: raises = nothing
"""Hover control by imagination: a learned dynamics model, an actor and a critic, three optimizers."""
from types import SimpleNamespace

import torch
from torch import nn
from torch.nn import functional as F

OBS, ACT, HORIZON, GAMMA = 6, 3, 5, 0.95


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 24), nn.ELU(), nn.Linear(24, n_out))


def build():
    nets = SimpleNamespace(world=mlp(OBS + ACT, OBS), actor=mlp(OBS, ACT), critic=mlp(OBS, 1))
    opts = SimpleNamespace(
        **{k: torch.optim.Adam(net.parameters(), lr=2e-3) for k, net in vars(nets).items()}
    )
    return nets, opts


def hover_cost(obs):
    return obs[..., :3].square().sum(-1) + 0.1 * obs[..., 3:].square().sum(-1)


def real_transitions(n):
    obs, act = torch.randn(n, OBS), torch.randn(n, ACT)
    vel = obs[:, 3:] + 0.1 * act
    return obs, act, torch.cat([obs[:, :3] + 0.1 * vel, vel], -1)


def fit_world(nets, opts, obs, act, nxt):
    opts.world.zero_grad()
    loss = F.mse_loss(obs + nets.world(torch.cat([obs, act], -1)), nxt)
    loss.backward()
    opts.world.step()
    return loss.item()


def imagine(nets, obs):
    trail = []
    for _ in range(HORIZON):
        act = torch.tanh(nets.actor(obs))
        obs = obs + nets.world(torch.cat([obs, act], -1))
        trail.append(obs)
    return torch.stack(trail)


def returns(costs, bootstrap):
    total, out = bootstrap, []
    for cost in costs.flip(0):
        total = cost + GAMMA * total
        out.append(total)
    return torch.stack(out[::-1])


def behave(nets, opts, start):
    trail = imagine(nets, start)
    values = nets.critic(trail).squeeze(-1)
    targets = returns(hover_cost(trail[:-1]), values[-1])
    actor_loss = targets.mean()
    critic_loss = F.mse_loss(nets.critic(trail[:-1].detach()).squeeze(-1), targets.detach())
    # the dynamics and the critic are passengers in the first of these
    opts.actor.zero_grad()
    actor_loss.backward(inputs=list(nets.actor.parameters()), retain_graph=True)
    sensitivity = torch.autograd.grad(actor_loss, trail)[0].norm()
    opts.critic.zero_grad()
    critic_loss.backward()
    opts.actor.step()
    opts.critic.step()
    return actor_loss.item(), critic_loss.item(), sensitivity.item()


def main():
    torch.manual_seed(6)
    nets, opts = build()
    dream = torch.randn(16, OBS)
    for it in range(8):
        obs, act, nxt = real_transitions(32)
        w = fit_world(nets, opts, obs, act, nxt)
        a, c, s = behave(nets, opts, dream)
        with torch.no_grad():  # carry on from where the last dream ended
            dream = imagine(nets, dream)[-1].clamp_(-1, 1)
        print(f"{it}: world {w:.4f} actor {a:.3f} critic {c:.3f} sensitivity {s:.3f}")


if __name__ == "__main__":
    main()
