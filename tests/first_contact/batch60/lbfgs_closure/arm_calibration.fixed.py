



"""Kinematic calibration of a planar 4-joint arm from tracker readings of its tool tip."""
import torch
from torch import nn

NOMINAL = torch.tensor([0.40, 0.35, 0.25, 0.12])


class PlanarArm(nn.Module):
    def __init__(self, lengths):
        super().__init__()
        self.lengths = nn.Parameter(lengths.clone())
        self.zeros = nn.Parameter(torch.zeros(len(lengths)))
        self.base = nn.Parameter(torch.zeros(2))

    def forward(self, encoders):
        heading = torch.cumsum(encoders + self.zeros, dim=-1)
        reach = torch.stack([heading.cos(), heading.sin()], dim=-1) * self.lengths[:, None]
        return reach.sum(dim=-2) + self.base

    def drift(self):
        return ((self.lengths - NOMINAL) ** 2).sum() + (self.zeros**2).sum()


def record_session(n, noise=5e-4):
    real = PlanarArm(NOMINAL + torch.tensor([0.004, -0.006, 0.003, 0.001]))
    with torch.no_grad():
        real.zeros.copy_(torch.tensor([0.02, -0.015, 0.03, -0.01]))
        real.base.copy_(torch.tensor([0.01, -0.02]))
        q = (torch.rand(n, 4) - 0.5) * 3.0
        return q, real(q) + noise * torch.randn(n, 2)


class Calibrator:
    def __init__(self, arm, prior=1e-3):
        self.arm, self.prior = arm, prior
        self.solver = torch.optim.LBFGS(arm.parameters(), max_iter=12, line_search_fn="strong_wolfe")
        self.trace = []

    def fit(self, encoders, tips):
        def evaluate():
            self.solver.zero_grad()
            predicted = self.arm(encoders)
            miss = (predicted - tips).norm(dim=-1)
            # Huber keeps the occasional tracker jump from bending the links
            weight = torch.where(miss < 0.05, torch.ones_like(miss), 0.05 / miss).detach()
            cost = (weight * miss**2).mean() + self.prior * self.arm.drift()
            cost.backward()
            self.trace.append(cost.item())
            return cost

        self.solver.step(evaluate)


def main():
    torch.manual_seed(5)
    arm = PlanarArm(NOMINAL)
    calibrator = Calibrator(arm)
    for session in range(3):
        calibrator.fit(*record_session(40))
        print(f"session {session}: cost {calibrator.trace[-1]:.3e}")
    print("lengths", [round(v, 4) for v in arm.lengths.tolist()])


if __name__ == "__main__":
    main()
