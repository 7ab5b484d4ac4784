



"""Policy learning through a differentiable point-mass simulator.

A batch of quadrotors (drag, gravity, wall) is rolled out for a short horizon and
the cost of the flight is differentiated back into the controller.
"""
from typing import NamedTuple

import torch
import torch.nn as nn

torch.manual_seed(23)


class Body(NamedTuple):
    pos: torch.Tensor
    vel: torch.Tensor


class Air:
    def __init__(self, dt=0.05):
        self.dt = dt
        self.g = torch.tensor([0.0, 0.0, -9.81])

    def derivative(self, body, thrust):
        speed = body.vel.norm(dim=1, keepdim=True)
        return body.vel, thrust + self.g - 0.15 * speed * body.vel

    def integrate(self, body, thrust, substeps=2):
        pos, vel = body.pos.clone(), body.vel.clone()
        h = self.dt / substeps
        for _ in range(substeps):
            dpos, dvel = self.derivative(Body(pos, vel), thrust)
            pos += h * dpos
            vel += h * dvel
        return Body(pos, vel)


def spawn(n, spread=1.0):
    return Body(spread * torch.randn(n, 3), 0.1 * torch.randn(n, 3))


def make_controller(hidden=32):
    net = nn.Sequential(nn.Linear(9, hidden), nn.Tanh(), nn.Linear(hidden, 3))
    hover = torch.tensor([0.0, 0.0, 9.81])

    def act(body, goal):
        obs = torch.cat([body.pos, body.vel, goal - body.pos], dim=1)
        return hover + 6.0 * torch.tanh(net(obs))

    return net, act


def stage_cost(body, goal, thrust):
    gap = (body.pos - goal).norm(dim=1)
    wall = torch.relu(body.pos[:, 0] - 2.0)
    return (gap + 5.0 * wall.square() + 0.01 * thrust.square().sum(1)).mean()


def rollout(air, act, body, goal, horizon):
    costs = []
    for _ in range(horizon):
        thrust = act(body, goal)
        body = air.integrate(body, thrust)
        costs.append(stage_cost(body, goal, thrust))
    return torch.stack(costs), body


def learn(iterations=6, n=16, horizon=12):
    air = Air()
    net, act = make_controller()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    history = []
    for _ in range(iterations):
        goal = torch.tensor([1.0, 0.0, 1.0]).expand(n, 3)
        costs, last = rollout(air, act, spawn(n), goal, horizon)
        discount = 0.98 ** torch.arange(horizon)
        objective = (discount * costs).sum() + last.vel.square().mean()
        opt.zero_grad()
        objective.backward()
        opt.step()
        history.append(objective.item())
    return history


if __name__ == "__main__":
    print(" ".join(f"{c:.3f}" for c in learn()))
