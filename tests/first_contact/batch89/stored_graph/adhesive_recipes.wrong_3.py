"""Which adhesive recipe next? A bandit with a Gaussian process on learnt features."""
import math

import torch
from torch import nn


class Laboratory:
    """Peel strength of a recipe (resin, hardener, filler, hours, degrees), with a noisy tester."""

    def __init__(self, recipes=60):
        self.recipes = torch.rand(recipes, 5)
        a, b, c, t, d = self.recipes.unbind(1)
        cure = 1 - torch.exp(-3 * t * torch.exp(2 * (d - 0.5)))
        self.truth = 2 * cure * torch.exp(-8 * (a - 1.4 * b + 0.2) ** 2) + 0.4 * c * (1 - c)

    def peel(self, index):
        return self.truth[index] + 0.05 * torch.randn(())


class DeepKernel(nn.Module):
    def __init__(self, width=12, latent=3):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, width), nn.Tanh(), nn.Linear(width, latent))
        self.log_scale = nn.Parameter(torch.tensor(0.0))
        self.log_noise = nn.Parameter(torch.tensor(-2.0))

    def features(self, x):
        return self.net(2 * x - 1)

    def cov(self, a, b):
        return torch.exp(2 * self.log_scale - 0.5 * torch.cdist(a, b).square())


class Bandit:
    def __init__(self, lab, lr=0.02, width=2.0):
        self.lab, self.width = lab, width
        self.kernel = DeepKernel()
        self.opt = torch.optim.Adam(self.kernel.parameters(), lr=lr)
        self.tried, self.strengths, self.order = [], [], []

    def factor(self, seen):
        noise = torch.exp(2 * self.kernel.log_noise) + 1e-4
        return torch.linalg.cholesky(self.kernel.cov(seen, seen) + noise * torch.eye(len(seen)))

    def targets(self):
        y = torch.tensor(self.strengths)
        return (y - y.mean())[:, None], y.mean()

    @torch.no_grad()
    def next_recipe(self):
        if len(self.tried) < 3:
            return int(torch.randint(0, len(self.lab.recipes), ()))
        seen = torch.stack(self.tried)
        y, mean = self.targets()
        chol = self.factor(seen)
        cross = self.kernel.cov(seen, self.kernel.features(self.lab.recipes))
        guess = mean + (cross.T @ torch.cholesky_solve(y, chol)).squeeze(1)
        half = torch.linalg.solve_triangular(chol, cross, upper=False)
        var = (torch.exp(2 * self.kernel.log_scale) - half.square().sum(0)).clamp_min(1e-6)
        upper = guess + self.width * var.sqrt()
        upper[self.order] = -math.inf
        return int(upper.argmax())

    def learn(self):
        seen = torch.stack(self.tried)
        y, _ = self.targets()
        chol = self.factor(seen)
        fit = 0.5 * (y * torch.cholesky_solve(y, chol)).sum()
        nll = (fit + chol.diagonal().log().sum()) / len(seen)
        self.opt.zero_grad()
        nll.backward()
        self.opt.step()
        self.tried = [z.detach() for z in self.tried]
        return nll.item()

    def round(self):
        index = self.next_recipe()
        z = self.kernel.features(self.lab.recipes[index])
        self.tried.append(z)
        self.strengths.append(self.lab.peel(index).item())
        self.order.append(index)
        return self.learn() if len(self.tried) > 2 else float("nan")


if __name__ == "__main__":
    torch.manual_seed(40)
    lab = Laboratory()
    bandit = Bandit(lab)
    for number in range(18):
        nll = bandit.round()
        regret = (lab.truth.max() - lab.truth[bandit.order].max()).item()
        print(f"{number:2d} recipe {bandit.order[-1]:2d} peel {bandit.strengths[-1]:.3f} "
              f"nll {nll:.3f} regret {regret:.3f}")
