"""Two isotopes in one jar: activities and half-lives from counts, by L-BFGS with a weak prior."""
import torch
from torch import nn


class Jar(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_activity = nn.Parameter(torch.tensor([3.0, 3.0]))
        self.log_rate = nn.Parameter(torch.tensor([-0.5, -2.0]))

    def forward(self, hours):
        decay = torch.exp(-hours[:, None] * self.log_rate.exp())
        return decay @ self.log_activity.exp()


class Objective:
    """Handed to the optimizer, which calls it as often as its line search likes."""

    def __init__(self, jar, hours, counts):
        self.jar = jar
        gap = (jar(hours) - counts) / counts.sqrt()
        self.misfit = gap.square().mean()

    def prior(self):
        return 0.01 * (self.jar.log_rate + 1.5).square().sum()

    def __call__(self):
        self.jar.zero_grad()
        total = self.misfit.detach() + self.prior()
        total.backward()
        return total


torch.manual_seed(21)
hours = torch.linspace(0.1, 12, 40)
with torch.no_grad():
    truth = 50 * torch.exp(-0.9 * hours) + 20 * torch.exp(-0.08 * hours)
    counts = torch.poisson(truth).clamp(min=1)

jar = Jar()
solver = torch.optim.LBFGS(jar.parameters(), lr=0.5, max_iter=6, line_search_fn="strong_wolfe")
for sweep in range(5):
    value = solver.step(Objective(jar, hours, counts))
    print(sweep, round(float(value), 5), [round(v, 3) for v in jar.log_rate.tolist()])
