"""Swinging church bell: a Hamiltonian network fitted through an unrolled leapfrog integrator.

The force is itself a gradient, so training needs second derivatives. A recording is followed
window after window; the state at the end of one window is where the next one begins.
"""
import torch
import torch.nn as nn


class Hamiltonian(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.potential = nn.Sequential(nn.Linear(1, width), nn.Softplus(), nn.Linear(width, width), nn.Softplus(), nn.Linear(width, 1, bias=False))
        self.log_mass = nn.Parameter(torch.zeros(1))

    def force(self, q):
        with torch.enable_grad():
            if not q.requires_grad:
                q = q.detach().requires_grad_()
            v = self.potential(q).sum()
            return -torch.autograd.grad(v, q, create_graph=True)[0]

    def energy(self, q, p):
        return (self.potential(q) + p ** 2 / (2 * self.log_mass.exp())).squeeze(-1)

    def leapfrog(self, q, p, dt):
        p = p + 0.5 * dt * self.force(q)
        q = q + dt * p / self.log_mass.exp()
        p = p + 0.5 * dt * self.force(q)
        return q, p


class BellFit:
    def __init__(self, model, dt=0.1, window=5):
        self.model, self.dt, self.window = model, dt, window
        self.opt = torch.optim.Adam(model.parameters(), lr=5e-3)
        self.state = None
        self.drift = []

    def restart(self, q, p):
        self.state = (q, p)
        self.h0 = self.model.energy(q, p).detach()

    def follow(self, seen):
        """One window: predict, compare, learn; then go on from where the prediction ended."""
        q, p = self.state
        miss = 0.0
        for angle in seen:
            q, p = self.model.leapfrog(q, p, self.dt)
            miss = miss + (q - angle).square().mean()
        self.opt.zero_grad()
        miss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.opt.step()
        self.state = q.detach(), p.detach()
        self.drift.append((self.model.energy(*self.state) - self.h0).abs().mean().item())
        return miss.item() / len(seen)


def recording(n, steps, dt):
    q, p = 0.5 + torch.rand(n, 1), torch.zeros(n, 1)
    first, angles = (q, p), []
    for _ in range(steps):
        for _ in range(10):
            p = p - dt / 10 * 2.0 * torch.sin(q)
            q = q + dt / 10 * p
        angles.append(q + 0.01 * torch.randn_like(q))
    return first, angles


if __name__ == "__main__":
    torch.manual_seed(14)
    fit = BellFit(Hamiltonian())
    for epoch in range(3):
        start, angles = recording(16, 20, fit.dt)
        fit.restart(*start)
        misses = [fit.follow(angles[i:i + fit.window]) for i in range(0, 20, fit.window)]
        print(f"epoch {epoch}: miss {sum(misses) / len(misses):.4f}, energy drift {fit.drift[-1]:.3f}")
    with torch.no_grad():
        q, p = torch.tensor([[0.8]]), torch.zeros(1, 1)
        for _ in range(30):
            q, p = fit.model.leapfrog(q, p, fit.dt)
    print("angle after 3 s:", round(q.item(), 3))
