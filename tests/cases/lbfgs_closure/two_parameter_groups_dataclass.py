# expect: pattern = lbfgs-closure
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = residuals, self.residuals, r, pose, predicted, fit.residuals
# Bundle adjustment in the small: residuals are computed when the problem is made.
from dataclasses import dataclass

import torch


@dataclass
class Problem:
    angle: torch.Tensor
    shift: torch.Tensor
    source: torch.Tensor
    target: torch.Tensor

    def residuals(self):
        c, s = torch.cos(self.angle), torch.sin(self.angle)
        rotation = torch.stack([torch.stack([c, -s]), torch.stack([s, c])])
        return self.source @ rotation.T + self.shift - self.target  # expect: place


def solve(problem, rounds=2):
    optimizer = torch.optim.LBFGS([problem.angle, problem.shift], lr=0.5, max_iter=8)
    for k in range(rounds):
        r = problem.residuals()  # expect: place

        def closure():
            optimizer.zero_grad()
            cost = r.pow(2).sum() + 1e-3 * problem.shift.pow(2).sum()  # expect: place
            cost.backward()  # expect: place
            return cost

        print(k, optimizer.step(closure).item())


torch.manual_seed(0)
points = torch.randn(12, 2)
solve(
    Problem(
        torch.tensor(0.1, requires_grad=True),
        torch.zeros(2, requires_grad=True),
        points,
        points.flip(1) + 0.3,
    )
)
