"""
Fit an eddy viscosity and a body-force profile to snapshots of a 1-D channel.
Backward Euler:  (I - dt * nu * L) u_{n+1} = u_n + dt * f(y)
The matrix is small, so the inverse is simply kept.
"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def laplacian(n, dy):
    L = np.zeros((n, n), dtype=np.float32)
    for i in range(n):
        L[i, i] = -2.0
        if i > 0:
            L[i, i - 1] = 1.0
        if i < n - 1:
            L[i, i + 1] = 1.0
    return torch.from_numpy(L / dy ** 2)


class ChannelSolver(nn.Module):
    def __init__(self, n=20, dt=0.05, nu0=0.1):
        super().__init__()
        self.n, self.dt = n, dt
        self.dy = 1.0 / (n + 1)
        self.raw_nu = nn.Parameter(torch.tensor(float(np.log(np.expm1(nu0)))))
        self.force = nn.Parameter(torch.zeros(n))
        self.register_buffer("lap", laplacian(n, self.dy))
        self.step_op = self.assemble().detach()

    @property
    def nu(self):
        return F.softplus(self.raw_nu)

    def assemble(self):
        eye = torch.eye(self.n)
        return torch.linalg.inv(eye - self.dt * self.nu * self.lap)

    def forward(self, u, n_steps):
        snaps = []
        for _ in range(n_steps):
            u = (u + self.dt * self.force) @ self.step_op.T
            snaps.append(u)
        return torch.stack(snaps, dim=1)


def reference_flow(n, n_steps, n_runs, seed):
    """Same scheme with the true values, plus measurement noise."""
    rng = np.random.RandomState(seed)
    y = np.linspace(0, 1, n + 2)[1:-1].astype(np.float32)
    ref = ChannelSolver(n=n, nu0=0.4)
    with torch.no_grad():
        ref.force.copy_(torch.from_numpy(1.0 + 0.5 * np.sin(2 * np.pi * y).astype(np.float32)))
        u0 = torch.from_numpy(np.stack([a * np.sin(np.pi * y) for a in rng.uniform(0.5, 2, n_runs)]).astype(np.float32))
        snaps = ref(u0, n_steps)
    noise = torch.from_numpy(rng.randn(*snaps.shape).astype(np.float32))
    return u0, snaps + 0.002 * noise


def fit(iters=60, lr=0.05):
    torch.manual_seed(11)
    u0, snaps = reference_flow(n=20, n_steps=6, n_runs=8, seed=11)
    solver = ChannelSolver()
    opt = torch.optim.Adam(solver.parameters(), lr=lr)
    for it in range(iters):
        pred = solver(u0, snaps.shape[1])
        misfit = F.mse_loss(pred, snaps)
        rough = (solver.force[1:] - solver.force[:-1]).pow(2).mean()
        objective = misfit + 1e-4 * rough
        opt.zero_grad()
        objective.backward()
        opt.step()
        if it % 15 == 0:
            print("it %2d misfit %.5f nu %.3f" % (it, misfit.item(), solver.nu.item()))
    print("final nu %.3f, mean force %.3f" % (solver.nu.item(), solver.force.mean().item()))


fit()
