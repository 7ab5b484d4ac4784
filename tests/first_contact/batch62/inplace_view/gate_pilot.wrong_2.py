


"""Train a pilot for a point-mass quadrotor through the simulator (no reward, only physics)."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class Airframe:
    drag: float = 0.25
    motor_tau: float = 0.08
    dt: float = 0.04
    max_acc: float = 14.0


class PointMassDrone:
    """state = [position, velocity, mean acceleration of the rotors], 9 numbers a drone"""

    def __init__(self, frame):
        self.frame = frame
        self.gravity = torch.tensor([0.0, 0.0, -9.81])

    def tick(self, state, command):
        f = self.frame
        pos, vel, thrust = state.detach().split(3, dim=-1)
        # motors follow the command with a first order lag
        thrust = thrust + (command - thrust) * (f.dt / f.motor_tau)
        vel = vel + (thrust + self.gravity - f.drag * vel * vel.norm(dim=-1, keepdim=True)) * f.dt
        pos = pos + vel * f.dt
        return torch.cat([pos, vel, thrust], dim=-1)


class Pilot(nn.Module):
    def __init__(self, frame):
        super().__init__()
        self.limit = frame.max_acc
        self.body = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 3))

    def forward(self, state, gate):
        seen = torch.cat([gate - state[..., :3], state], dim=-1)
        hover = torch.tensor([0.0, 0.0, 9.81])
        return hover + self.limit * 0.3 * torch.tanh(self.body(seen))


def fly(drone, pilot, state, gate, ticks):
    for _ in range(ticks):
        command = pilot(state, gate)
        state = drone.tick(state, command)
        yield state, command


def flight_cost(flight, gate):
    cost = 0.0
    previous = None
    for state, command in flight:
        cost = cost + (state[..., :3] - gate).norm(dim=-1).mean()
        if previous is not None:
            cost = cost + 0.01 * (command - previous).square().mean()
        previous = command
    return cost


def spawn(n):
    state = torch.zeros(n, 9)
    state[:, :3] = torch.randn(n, 3)
    state[:, 8] = 9.81
    return state


if __name__ == "__main__":
    torch.manual_seed(2)
    frame = Airframe()
    drone, pilot = PointMassDrone(frame), Pilot(frame)
    opt = torch.optim.Adam(pilot.parameters(), lr=2e-3)
    gate = torch.tensor([1.0, 0.0, 1.5])
    for flight_no in range(6):
        cost = flight_cost(fly(drone, pilot, spawn(16), gate, ticks=12), gate)
        opt.zero_grad()
        cost.backward()
        opt.step()
        print(f"flight {flight_no}: cost {cost.item():.3f}")
