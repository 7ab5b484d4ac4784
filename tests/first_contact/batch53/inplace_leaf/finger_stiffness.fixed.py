"""Identify contact parameters of a soft gripper from force/indentation pairs.

Physics first (Hertz-like spring per finger plus Coulomb friction), and a small
residual net for what the physics leaves over. Parameters have physical bounds,
kept by projecting after every optimiser step.
"""
import torch
from torch import nn


class ContactModel(nn.Module):
    bounds = {"stiffness": (0.5, 8.0), "friction": (0.05, 1.2)}

    def __init__(self, fingers: int):
        super().__init__()
        self.stiffness = nn.Parameter(torch.full((fingers,), 1.0))
        self.friction = nn.Parameter(torch.full((fingers,), 0.1))
        self.residual = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 2))
        for p in self.residual[-1].parameters():
            nn.init.zeros_(p)

    def forward(self, depth, slide):
        normal = self.stiffness * depth.clamp_min(0).pow(1.5)
        tangent = self.friction * normal * torch.tanh(4 * slide)
        extra = self.residual(torch.stack([depth, slide], dim=-1))
        return torch.stack([normal, tangent], dim=-1) + 0.1 * extra

    @torch.no_grad()
    def project(self):
        """Back into the admissible box."""
        for name, (lo, hi) in self.bounds.items():
            p = getattr(self, name)
            p.clamp_(lo, hi)


class BenchLog:
    """Readings of the test bench, replayed in shuffled chunks."""

    def __init__(self, n, fingers, seed):
        g = torch.Generator().manual_seed(seed)
        self.depth = torch.rand(n, fingers, generator=g)
        self.slide = torch.randn(n, fingers, generator=g)
        k = torch.tensor([2.0, 3.0, 0.4])[:fingers]
        mu = torch.tensor([0.6, 0.02, 0.9])[:fingers]
        normal = k * self.depth.pow(1.5)
        self.force = torch.stack([normal, mu * normal * torch.tanh(4 * self.slide)], -1)
        self.force = self.force + 0.01 * torch.randn(self.force.shape, generator=g)

    def chunks(self, size):
        for idx in torch.randperm(len(self.depth)).split(size):
            yield self.depth[idx], self.slide[idx], self.force[idx]


def identify(epochs=12, fingers=3):
    torch.manual_seed(17)
    log = BenchLog(120, fingers, seed=17)
    model = ContactModel(fingers)
    physics = [model.stiffness, model.friction]
    optimizer = torch.optim.Adam([
        {"params": physics, "lr": 5e-2},
        {"params": model.residual.parameters(), "lr": 2e-3},
    ])
    huber = nn.SmoothL1Loss(beta=0.1)
    for epoch in range(epochs):
        running, count = 0.0, 0
        for depth, slide, force in log.chunks(30):
            optimizer.zero_grad(set_to_none=True)
            loss = huber(model(depth, slide), force)
            loss.backward()
            optimizer.step()
            model.project()
            running += loss.item() * len(depth)
            count += len(depth)
        if epoch % 4 == 3 or epoch == 0:
            print(f"epoch {epoch + 1:2d}  huber {running / count:.4f}")
    print("k  ", [round(v, 2) for v in model.stiffness.tolist()])
    print("mu ", [round(v, 2) for v in model.friction.tolist()])


if __name__ == "__main__":
    identify()
