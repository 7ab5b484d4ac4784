"""Inverse LQR: which costs does an experienced gantry-crane driver minimise?

State (cart position, velocity, rope angle, angular rate), input (trolley force).  We
recover log-weights of the quadratic cost from recorded forces.
"""
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Plant(NamedTuple):
    A: Tensor
    B: Tensor


def gantry(dt: float = 0.1) -> Plant:
    Ac = torch.tensor([[0.0, 1, 0, 0], [0, -0.2, 1.5, 0], [0, 0, 0, 1], [0, 0.1, -3.0, -0.1]])
    Bc = torch.tensor([[0.0], [1.0], [0.0], [-0.6]])
    return Plant(torch.eye(4) + dt * Ac, dt * Bc)


def riccati(plant: Plant, Q: Tensor, R: Tensor, sweeps: int = 40) -> Tensor:
    """Gain of the infinite-horizon regulator by iterating the Riccati difference equation."""
    A, B = plant
    P = Q
    for _ in range(sweeps):
        S = R + B.T @ P @ B
        K = torch.linalg.solve(S, B.T @ P @ A)
        P = Q + A.T @ P @ (A - B @ K)
    return K


class Driver(nn.Module):
    def __init__(self, log_q, log_r=0.0):
        super().__init__()
        self.log_q = nn.Parameter(torch.as_tensor(log_q, dtype=torch.float32))
        self.log_r = nn.Parameter(torch.tensor([float(log_r)]))
        self.offset = nn.Parameter(torch.zeros(1))

    def gain(self, plant):
        return riccati(plant, torch.diag(self.log_q.exp()), torch.diag(self.log_r.exp()))

    def force(self, states, K):
        return self.offset - states @ K.T


def record_driver(plant, n_runs=12, length=25):
    """Recorded swings: the driver's true preference, with a shaky hand."""
    expert = Driver([1.5, -1.0, 2.0, 0.0], log_r=-0.5)
    with torch.no_grad():
        K = expert.gain(plant)
        x = torch.randn(n_runs, 4) * torch.tensor([2.0, 0.5, 0.3, 0.2])
        xs, us = [], []
        for _ in range(length):
            u = expert.force(x, K) + 0.15 + 0.05 * torch.randn(n_runs, 1)
            xs.append(x)
            us.append(u)
            x = x @ plant.A.T + u @ plant.B.T + 0.02 * torch.randn(n_runs, 4)
    return torch.cat(xs), torch.cat(us)


def imitate(plant, states, forces, epochs=12, batch=60):
    driver = Driver(torch.zeros(4))
    opt = torch.optim.Adam(driver.parameters(), lr=0.08)
    for epoch in range(epochs):
        err = 0.0
        for idx in torch.randperm(len(states)).chunk(len(states) // batch):
            K = driver.gain(plant)
            predicted = driver.force(states[idx], K)
            loss = (predicted - forces[idx]).square().mean()
            loss = loss + 1e-3 * driver.log_q.square().sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            err += loss.item()
        if epoch % 3 == 0 or epoch == epochs - 1:
            w = ", ".join(f"{v:.2f}" for v in driver.log_q.exp().tolist())
            print(f"epoch {epoch:2d}  mse {err / (len(states) // batch):.4f}  weights [{w}]")
    return driver


if __name__ == "__main__":
    torch.manual_seed(17)
    crane = gantry()
    imitate(crane, *record_driver(crane))
