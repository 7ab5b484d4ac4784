


"""Fit a trapezoid-like transit with a quadratic baseline to a (simulated) light curve.

Two stages as in our IDL pipeline: Adam to get near, L-BFGS to polish.
"""
import math

import torch


class TransitModel(torch.nn.Module):
    PRIOR = {"log_depth": (math.log(0.01), 1.0), "log_width": (math.log(0.08), 0.7)}

    def __init__(self):
        super().__init__()
        self.log_depth = torch.nn.Parameter(torch.tensor(math.log(0.006)))
        self.log_width = torch.nn.Parameter(torch.tensor(math.log(0.12)))
        self.t0 = torch.nn.Parameter(torch.tensor(0.03))
        self.baseline = torch.nn.Parameter(torch.zeros(3))

    def forward(self, t):
        depth, width = self.log_depth.exp(), self.log_width.exp()
        edge = torch.sigmoid((width - (t - self.t0).abs()) / 0.012)
        powers = torch.stack([torch.ones_like(t), t, t**2], dim=-1)
        return 1.0 - depth * edge + 1e-2 * powers @ self.baseline

    def log_prior(self):
        terms = []
        for name, (mean, sigma) in self.PRIOR.items():
            terms.append(-0.5 * ((getattr(self, name) - mean) / sigma) ** 2)
        return torch.stack(terms).sum()


def simulate(n=180, noise=6e-4):
    t = torch.linspace(-0.3, 0.3, n)
    width, depth, mid = 0.07, 0.011, -0.008
    shape = torch.sigmoid((width - (t - mid).abs()) / 0.012)
    flux = 1.0 - depth * shape + 2e-3 * t - 4e-3 * t**2
    return t, flux + noise * torch.randn(n), torch.full((n,), noise)


def objective(model, t, observed, sigma):
    residual = (observed - model(t)) / sigma
    chi2 = residual.pow(2).mean()
    return chi2 - model.log_prior() / len(t), residual


def stage_one(model, data, steps):
    opt = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(steps):
        opt.zero_grad()
        value, _ = objective(model, *data)
        value.backward()
        opt.step()
    return value.item()


def stage_two(model, data, rounds, clip=5.0):
    opt = torch.optim.LBFGS(model.parameters(), lr=0.8, max_iter=8, line_search_fn="strong_wolfe")
    t, observed, sigma = data
    keep = torch.ones_like(t, dtype=torch.bool)
    for k in range(rounds):
        value, residual = objective(model, t[keep], observed[keep], sigma[keep])

        def closure():
            opt.zero_grad()
            value.backward(retain_graph=True)
            return value

        opt.step(closure)
        with torch.no_grad():
            outlier = ((observed - model(t)) / sigma).abs() > clip
        keep = ~outlier
        print(f"  round {k}: objective {value.item():.4f}, kept {int(keep.sum())} points")


if __name__ == "__main__":
    torch.manual_seed(77)
    data = simulate()
    data[1][::45] += 0.012  # cosmic rays
    model = TransitModel()
    print("adam:", round(stage_one(model, data, 30), 4))
    stage_two(model, data, rounds=3)
    for name, p in model.named_parameters():
        print(f"{name:10s}", p.detach().numpy().round(4))
