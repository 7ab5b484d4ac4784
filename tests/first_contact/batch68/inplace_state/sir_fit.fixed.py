"""
Fit beta and gamma of an SIR epidemic to weekly case counts by gradient descent.
Forward Euler, because odeint can't be differentiated.
"""
import numpy as np
import torch

torch.manual_seed(1)
np.random.seed(1)

DT = 0.5
DAYS = 60
N_STEPS = int(DAYS / DT)


def sir(y, beta, gamma):
    S, I, R = y
    new_infections = beta * S * I
    recoveries = gamma * I
    return torch.stack([-new_infections, new_infections - recoveries, recoveries])


def euler_solver(func, y0, n_steps, dt, beta, gamma):
    y = [y0]
    for i in range(1, n_steps + 1):
        y.append(y[i - 1] + dt * func(y[i - 1], beta, gamma))
    return torch.stack(y)


def weekly_incidence(y):
    infected_so_far = 1.0 - y[:, 0]
    per_week = infected_so_far[:: int(7 / DT)]
    return per_week[1:] - per_week[:-1]


def simulate_reports():
    """What the health office would have sent us (true beta 0.45, gamma 0.12)."""
    S, I, out = 0.99, 0.01, [0.01]
    for _ in range(N_STEPS):
        inf, rec = 0.45 * S * I, 0.12 * I
        S, I = S - DT * inf, I + DT * (inf - rec)
        out.append(1.0 - S)
    weekly = np.diff(np.array(out)[:: int(7 / DT)])
    return torch.tensor(weekly * np.random.lognormal(0, 0.05, weekly.shape), dtype=torch.float32)


reports = simulate_reports()
y0 = torch.tensor([0.99, 0.01, 0.0])

# optimise in log space so that the rates stay positive
log_rates = torch.tensor([np.log(0.3), np.log(0.2)], dtype=torch.float32, requires_grad=True)
optimizer = torch.optim.Adam([log_rates], lr=0.05)

for it in range(30):
    optimizer.zero_grad()
    beta, gamma = log_rates.exp()
    sol = euler_solver(sir, y0, N_STEPS, DT, beta, gamma)
    loss = ((weekly_incidence(sol) - reports) ** 2).sum()
    loss.backward()
    optimizer.step()
    if it % 10 == 0:
        print(f"{it:3d}  loss {loss.item():.5f}  beta {beta.item():.3f}  gamma {gamma.item():.3f}")

beta, gamma = log_rates.detach().exp()
print(f"R0 = {beta / gamma:.2f}")
