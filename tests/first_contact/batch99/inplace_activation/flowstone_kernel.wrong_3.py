"""Thickness of the laminae in four flowstones: a Gaussian process with one kernel for all of them."""
import math
from collections import namedtuple

import torch

Core = namedtuple("Core", "name depth thickness")


class LaminaGP(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.log_scale = torch.nn.Parameter(torch.tensor(0.0))
        self.log_reach = torch.nn.Parameter(torch.tensor(-1.0))
        self.log_noise = torch.nn.Parameter(torch.tensor(-1.0))
        self.trend = torch.nn.Parameter(torch.zeros(2))

    def mean(self, depth):
        return self.trend[0] + self.trend[1] * depth

    def gram(self, a, b):
        gap = (a[:, None] - b[None, :]).square()
        return torch.exp(2 * self.log_scale - gap / (2 * torch.exp(2 * self.log_reach)))

    def noisy_gram(self, depth):
        K = self.gram(depth, depth)
        return K + (torch.exp(2 * self.log_noise).item() + 1e-5) * torch.eye(len(depth))

    def nll(self, core):
        """Negative log marginal likelihood per lamina."""
        K = self.noisy_gram(core.depth)
        L = torch.linalg.cholesky(K)
        rest = (core.thickness - self.mean(core.depth)).unsqueeze(1)
        white = torch.linalg.solve_triangular(L, rest, upper=False)
        n = len(core.depth)
        return (0.5 * white.square().sum() + L.diagonal().log().sum() + 0.5 * n * math.log(2 * math.pi)) / n

    @torch.no_grad()
    def predict(self, core, at):
        L = torch.linalg.cholesky(self.noisy_gram(core.depth))
        rest = (core.thickness - self.mean(core.depth)).unsqueeze(1)
        cross = self.gram(at, core.depth)
        mean = self.mean(at) + (cross @ torch.cholesky_solve(rest, L)).squeeze(1)
        var = torch.exp(2 * self.log_scale) - (cross * torch.cholesky_solve(cross.T, L).T).sum(1)
        return mean, var.clamp(min=0).sqrt()


def drill(name, n, gen):
    depth = torch.sort(torch.rand(n, generator=gen) * 4).values
    wiggle = 0.8 * torch.sin(3.1 * depth) + 0.3 * torch.cos(7.0 * depth + 1)
    noise = 0.15 * torch.randn(n, generator=gen)
    return Core(name, depth, 2.0 - 0.3 * depth + wiggle + noise)


def split(core, gen):
    keep = torch.rand(len(core.depth), generator=gen) < 0.8
    return (Core(core.name, core.depth[keep], core.thickness[keep]),
            Core(core.name, core.depth[~keep], core.thickness[~keep]))


def fit(gp, cores, steps=40):
    opt = torch.optim.Adam(gp.parameters(), lr=0.05)
    sched = torch.optim.lr_scheduler.StepLR(opt, 20, 0.5)
    for step in range(steps):
        opt.zero_grad()
        total = torch.stack([gp.nll(core) for core in cores]).mean()
        total.backward()
        opt.step()
        sched.step()
        if step % 10 == 9:
            print(f"{step + 1:3d} nll {total.item():.3f}  scale {gp.log_scale.exp().item():.2f}  "
                  f"reach {gp.log_reach.exp().item():.2f}  noise {gp.log_noise.exp().item():.2f}")


if __name__ == "__main__":
    gen = torch.Generator().manual_seed(63)
    pairs = [split(drill(name, 50, gen), gen) for name in ("north", "inlet", "deep", "shelf")]
    gp = LaminaGP()
    fit(gp, [kept for kept, _ in pairs])
    for kept, left in pairs:
        mean, sd = gp.predict(kept, left.depth)
        inside = ((left.thickness - mean).abs() < 2 * (sd + gp.log_noise.exp().item())).float().mean()
        print(f"{left.name:>6}: {len(left.depth)} left out, {inside:.0%} within two sigma")
