# expect: pattern = none
# expect: raises = nothing
"""Quiet a vibrating string: an open-loop force found with L-BFGS, then a feedback law that imitates and refines it."""
import numpy as np
import torch
from torch import nn

NX, NT, DT, C = 20, 50, 0.02, 1.0
DX = 1.0 / (NX + 1)


def laplacian():
    return torch.diag(torch.full((NX,), -2.0)) + torch.diag(torch.ones(NX - 1), 1) + torch.diag(torch.ones(NX - 1), -1)


L = laplacian() * (C / DX) ** 2
ACTUATOR = torch.zeros(2, NX)
ACTUATOR[0, 4:7] = 1.0
ACTUATOR[1, 12:15] = 1.0


def advance(u, v, force):
    """Symplectic Euler, a little damping."""
    v = v + DT * (u @ L + 8.0 * force @ ACTUATOR - 0.05 * v)
    return u + DT * v, v


def energy(u, v):
    return 0.5 * (v ** 2).sum(-1) * DX - 0.5 * ((u @ L) * u).sum(-1) * DX


def plucked(batch):
    x = torch.linspace(DX, 1 - DX, NX)
    amp = torch.randn(batch, 3) * torch.tensor([0.5, 0.3, 0.1])
    modes = torch.stack([torch.sin((k + 1) * torch.pi * x) for k in range(3)])
    return amp @ modes, torch.zeros(batch, NX)


def rollout(u, v, force_at):
    energies, effort = [], 0.0
    for n in range(NT):
        f = force_at(n, u, v)
        u, v = advance(u, v, f)
        energies.append(energy(u, v))
        effort = effort + (f ** 2).sum(-1) * DT
    return torch.stack(energies), effort


def open_loop(u0, v0, rounds=4):
    plan = torch.zeros(NT, len(u0), 2, requires_grad=True)
    optimizer = torch.optim.LBFGS([plan], lr=0.8, max_iter=8, line_search_fn="strong_wolfe")
    trace = []

    def closure():
        optimizer.zero_grad()
        e, effort = rollout(u0, v0, lambda n, u, v: plan[n])
        cost = e[NT // 2:].mean() + 0.02 * effort.mean()
        cost.backward()
        trace.append(cost.item())
        return cost

    for _ in range(rounds):
        optimizer.step(closure)
        with torch.no_grad():
            plan.clamp_(-2, 2)
    print("open loop   cost %.4f -> %.4f in %d evaluations" % (trace[0], trace[-1], len(trace)))
    return plan.detach()


class Feedback(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 * NX, 32), nn.Tanh(), nn.Linear(32, 2))
        self.register_buffer("scale", torch.ones(2 * NX))

    def forward(self, u, v):
        return 2 * torch.tanh(self.net(torch.cat([u, v], -1) / self.scale))

    @torch.no_grad()
    def calibrate(self, u, v):
        self.scale.mul_(0.5).add_(0.5 * torch.cat([u, v], -1).abs().mean(0).clamp(min=0.1))


def main():
    torch.manual_seed(6)
    np.random.seed(6)
    u0, v0 = plucked(12)
    plan = open_loop(u0, v0)
    states, u, v = [], u0, v0
    for n in range(NT):
        states.append((u, v))
        u, v = advance(u, v, plan[n])
    u_all, v_all = (torch.stack(s) for s in zip(*states))

    law = Feedback()
    law.calibrate(u_all.flatten(0, 1), v_all.flatten(0, 1))
    optimizer = torch.optim.Adam(law.parameters(), lr=3e-3)
    for it in range(80):
        pick = torch.as_tensor(np.random.randint(0, NT, 16))
        loss = nn.functional.mse_loss(law(u_all[pick], v_all[pick]), plan[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 40 == 39:
            print("imitation   %.4f" % loss.item())
    for it in range(15):
        e, effort = rollout(*plucked(12), lambda n, u, v: law(u, v))
        cost = (e[-1] / e[0].detach()).mean() + 0.02 * effort.mean()
        optimizer.zero_grad()
        cost.backward()
        nn.utils.clip_grad_norm_(law.parameters(), 1.0)
        optimizer.step()
        if it % 5 == 4:
            print("closed loop %.4f" % cost.item())


main()
