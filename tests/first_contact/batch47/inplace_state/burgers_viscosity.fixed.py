import numpy as np
import torch

NX, NT = 64, 60
LENGTH = 2.0
dx = LENGTH / NX
dt = 0.004


def burgers(u0, nu):
    """Explicit scheme on a ring: u_t + u u_x = nu u_xx. Returns all time levels."""
    u = [u0]
    for n in range(NT):
        right = torch.roll(u[n], -1)
        left = torch.roll(u[n], 1)
        advect = u[n] * (right - left) / (2 * dx)
        spread = nu * (right - 2 * u[n] + left) / dx ** 2
        u.append(u[n] + dt * (spread - advect))
    return torch.stack(u)


x = np.linspace(0, LENGTH, NX, endpoint=False)
start = torch.from_numpy(np.sin(np.pi * x) + 0.5)

# "measured" run: viscosity is higher in the right half of the pipe
nu_true = torch.from_numpy(np.where(x < 1.0, 0.05, 0.09))
with torch.no_grad():
    probes = burgers(start, nu_true)[10::10, ::4]
rng = np.random.default_rng(0)
probes = probes + torch.from_numpy(0.002 * rng.standard_normal(tuple(probes.shape)))

log_nu = torch.full((NX,), float(np.log(0.03)), dtype=torch.float64, requires_grad=True)
adam = torch.optim.Adam([log_nu], lr=0.1)

for it in range(15):
    nu = log_nu.exp()
    field = burgers(start, nu)
    data_fit = (field[10::10, ::4] - probes).square().mean()
    smooth = (log_nu - log_nu.roll(1)).square().mean()
    objective = data_fit + 1e-4 * smooth
    adam.zero_grad()
    objective.backward()
    adam.step()
    print(f"{it:2d}  objective {objective.item():.6f}  "
          f"nu left {nu[:32].mean().item():.4f} right {nu[32:].mean().item():.4f}")
