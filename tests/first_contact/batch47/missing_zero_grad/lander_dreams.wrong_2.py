"""Model-based control of a toy lander: fit the dynamics, then improve the pilot in imagination."""
import argparse

import torch
from torch import nn


def real_step(state, thrust):
    height, speed = state[:, :1], state[:, 1:]
    speed = speed + 0.1 * (thrust - 0.5 - 0.2 * speed)
    height = height + 0.1 * speed
    return torch.cat([height, speed], 1)


def mlp(n_in, n_out, width=24):
    return nn.Sequential(nn.Linear(n_in, width), nn.Tanh(), nn.Linear(width, n_out))


class Dynamics(nn.Module):
    def __init__(self):
        super().__init__()
        self.change = mlp(3, 2)

    def forward(self, state, thrust):
        return state + self.change(torch.cat([state, thrust], 1))


class Pilot(nn.Module):
    def __init__(self):
        super().__init__()
        self.core = mlp(2, 1)

    def forward(self, state):
        return 2 * torch.sigmoid(self.core(state))


def fresh_states(n):
    return torch.cat([1 + 0.5 * torch.rand(n, 1), 0.4 * torch.randn(n, 1)], 1)


def fly(pilot, n, ticks):
    """Real flight with a little exploration; returns transitions."""
    rows, state = [], fresh_states(n)
    with torch.no_grad():
        for _ in range(ticks):
            thrust = pilot(state) + 0.3 * torch.randn(n, 1)
            after = real_step(state, thrust)
            rows.append((state, thrust, after))
            state = after
    return [torch.cat(col) for col in zip(*rows)]


def dream_cost(pilot, dynamics, n, horizon):
    state = fresh_states(n)
    cost = 0.0
    for _ in range(horizon):
        thrust = pilot(state)
        state = dynamics(state, thrust)
        cost = cost + (state[:, 0] ** 2 + 0.3 * state[:, 1] ** 2).mean() + 0.01 * (thrust ** 2).mean()
    return cost / horizon


def main():
    cli = argparse.ArgumentParser(description=__doc__)
    cli.add_argument("--rounds", type=int, default=12)
    cli.add_argument("--fits", type=int, default=5)
    cli.add_argument("--dreams", type=int, default=3)
    cli.add_argument("--horizon", type=int, default=12)
    args = cli.parse_args()

    torch.manual_seed(77)
    dynamics, pilot = Dynamics(), Pilot()
    dyn_opt = torch.optim.Adam(dynamics.parameters(), lr=1e-2)
    pilot_opt = torch.optim.Adam(pilot.parameters(), lr=1e-2)

    for r in range(args.rounds):
        state, thrust, after = fly(pilot, 16, 10)
        for _ in range(args.fits):
            fit = (dynamics(state, thrust) - after).pow(2).sum(1).mean()
            fit.backward()
            dyn_opt.step()
            dyn_opt.zero_grad()
        for _ in range(args.dreams):
            cost = dream_cost(pilot, dynamics, 32, args.horizon)
            pilot_opt.zero_grad()
            cost.backward()
            pilot_opt.step()
            pilot_opt.zero_grad()
        print(f"round {r:2d}  fit {fit.item():.5f}  dreamed cost {cost.item():.4f}")


if __name__ == "__main__":
    main()
