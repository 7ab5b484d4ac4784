"""Value function of a docking problem from its Hamilton-Jacobi-Bellman equation.

Dynamics: x' = v, v' = u, running cost x^2 + v^2 + u^2 (the exact answer is quadratic).
"""
import torch
from torch import nn


class CostToGo(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(2, hidden), nn.Softplus(),
            nn.Linear(hidden, hidden), nn.Softplus(),
            nn.Linear(hidden, 1),
        )

    def forward(self, state):
        return self.body(state).squeeze(-1)


class HJBTrainer:
    def __init__(self, seed=6, lr=4e-3, points=128):
        torch.manual_seed(seed)
        self.critic = CostToGo()
        self.points = points
        self.optimizer = torch.optim.Adam(self.critic.parameters(), lr=lr)

    def collocation(self):
        return (torch.rand(self.points, 2) * 2 - 1).requires_grad_()

    def costate(self, value, state):
        slope, = torch.autograd.grad(value.sum(), state, retain_graph=True)
        return slope

    def hamiltonian(self, state, slope):
        x, v = state.unbind(1)
        thrust = -0.5 * slope[:, 1]
        stage = x ** 2 + v ** 2 + thrust ** 2
        return stage + slope[:, 0] * v + slope[:, 1] * thrust

    def losses(self):
        state = self.collocation()
        value = self.critic(state)
        slope = self.costate(value, state)
        residual = self.hamiltonian(state.detach(), slope).pow(2).mean()
        docked = self.critic(torch.zeros(1, 2)).pow(2).mean()
        positive = torch.relu(-value).pow(2).mean()
        return {"residual": residual, "docked": docked, "positive": positive}

    def fit(self, rounds=60):
        for r in range(rounds):
            parts = self.losses()
            total = parts["residual"] + parts["docked"] + 10 * parts["positive"]
            self.optimizer.zero_grad()
            total.backward()
            self.optimizer.step()
            if r % 10 == 0:
                line = "  ".join(f"{k} {p.item():.4f}" for k, p in parts.items())
                print(f"{r:3d}  {line}")
        probe = torch.tensor([[0.5, 0.0], [0.0, 0.5]])
        with torch.no_grad():
            print("V at probes:", [round(p, 3) for p in self.critic(probe).tolist()])


if __name__ == "__main__":
    HJBTrainer().fit()
