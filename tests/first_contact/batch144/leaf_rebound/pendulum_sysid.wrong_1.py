"""Identify length, damping and drag of a pendulum from noisy angles (differentiable RK4)."""
import numpy as np
import torch

G = 9.81
DT = 0.05
N_STEPS = 40


def acceleration(angle, speed, theta):
    length, damping, drag = theta[0], theta[1], theta[2]
    return -(G / length) * torch.sin(angle) - damping * speed - drag * speed * speed.abs()


def rk4_step(angle, speed, theta, dt=DT):
    k1a, k1s = speed, acceleration(angle, speed, theta)
    k2a = speed + 0.5 * dt * k1s
    k2s = acceleration(angle + 0.5 * dt * k1a, k2a, theta)
    k3a = speed + 0.5 * dt * k2s
    k3s = acceleration(angle + 0.5 * dt * k2a, k3a, theta)
    k4a = speed + dt * k3s
    k4s = acceleration(angle + dt * k3a, k4a, theta)
    angle = angle + dt / 6 * (k1a + 2 * k2a + 2 * k3a + k4a)
    speed = speed + dt / 6 * (k1s + 2 * k2s + 2 * k3s + k4s)
    return angle, speed


def simulate(angle0, theta, n_steps=N_STEPS):
    angle, speed = angle0, torch.zeros_like(angle0)
    out = []
    for _ in range(n_steps):
        angle, speed = rk4_step(angle, speed, theta)
        out.append(angle)
    return torch.stack(out, dim=1)


def measure(rng, n_runs=6):
    true = torch.tensor([1.20, 0.15, 0.05])
    angle0 = torch.from_numpy(rng.uniform(0.3, 1.2, n_runs)).float()
    with torch.no_grad():
        clean = simulate(angle0, true)
    noise = torch.from_numpy(rng.normal(0, 0.01, clean.shape)).float()
    return angle0, clean + noise, true


def first_guess(angle0, angles):
    """Small-angle estimate of the length from the first zero crossing; the rest from handbooks."""
    crossing = (angles < 0).int().argmax(dim=1).numpy() + 1
    quarter_period = crossing.mean() * DT
    length = G * (2 * quarter_period / np.pi) ** 2
    return np.array([length, 0.30, 0.01])


def fit(angle0, angles, guess, n_iter=25, lr=0.02):
    theta = torch.tensor(guess, requires_grad=True).float().detach()
    optimizer = torch.optim.Adam([theta], lr=lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.5)
    history = []
    for it in range(n_iter):
        optimizer.zero_grad()
        residual = simulate(angle0, theta) - angles
        loss = (residual ** 2).mean() + 1e-4 * torch.relu(-theta).sum()
        loss.backward()
        optimizer.step()
        scheduler.step()
        history.append(loss.item())
        if it % 5 == 0:
            print(f"iter {it:3d} rmse {np.sqrt(history[-1]):.5f}")
    return theta.detach().numpy(), history


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    angle0, angles, true = measure(rng)
    estimate, history = fit(angle0, angles, first_guess(angle0, angles))
    for name, got, want in zip(("length", "damping", "drag"), estimate, true.numpy()):
        print(f"{name:8s} {got:.3f} (true {want:.3f})")
    print(f"loss {history[0]:.2e} -> {history[-1]:.2e}")


if __name__ == "__main__":
    main()
