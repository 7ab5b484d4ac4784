"""U-Pb ages of a zircon population: grains lie on a chord between crystallisation and lead loss.

Ages are in Ma, ratios are 206Pb/238U and 207Pb/235U. The concordia functions come from the old
plotting module.
"""
import numpy as np
import torch
from torch import nn

L238 = 1.55125e-4  # per Ma
L235 = 9.8485e-4


def concordia(age):
    """The two ratios of a closed system of that age."""
    return torch.exp(L238 * age) - 1.0, torch.exp(L235 * age) - 1.0


def age_from_68(ratio):
    return np.log1p(ratio) / L238


class Discordia(nn.Module):
    """Mixture chord: each grain has lost a share of its lead at the lower intercept."""

    def __init__(self, n_grains, upper_guess, lower_guess):
        super().__init__()
        self.upper = nn.Parameter(torch.tensor(upper_guess, dtype=torch.float64))
        self.lower = nn.Parameter(torch.tensor(lower_guess, dtype=torch.float64))
        self.loss_logit = nn.Parameter(torch.zeros(n_grains, dtype=torch.float64))
        self.log_scatter = nn.Parameter(torch.tensor(-5.0, dtype=torch.float64))

    def ratios(self):
        up68, up75 = concordia(self.upper)
        lo68, lo75 = concordia(self.lower)
        kept = torch.sigmoid(-self.loss_logit)
        return lo68 + kept * (up68 - lo68), lo75 + kept * (up75 - lo75)

    def misfit(self, grains):
        r68, r75 = self.ratios()
        nll = 0.0
        for model, (measured, error) in ((r68, grains["68"]), (r75, grains["75"])):
            var = (error / measured) ** 2 + (2 * self.log_scatter).exp()
            nll = nll + 0.5 * (((model - measured) / measured) ** 2 / var + var.log()).mean()
        return nll


def measure(n, upper, lower, rng):
    kept = torch.as_tensor(rng.beta(2, 1.5, n))
    u68, u75 = concordia(torch.tensor(upper, dtype=torch.float64))
    l68, l75 = concordia(torch.tensor(lower, dtype=torch.float64))
    grains = {}
    for name, u, l, rel in (("68", u68, l68, 0.008), ("75", u75, l75, 0.012)):
        clean = l + kept * (u - l)
        grains[name] = (clean * (1 + rel * torch.as_tensor(rng.normal(size=n))), rel * clean)
    return grains


def first_guess(grains):
    apparent = age_from_68(grains["68"][0].numpy())
    return float(np.quantile(apparent, 0.95)) * 1.15, float(np.quantile(apparent, 0.05)) * 0.7


def fit(grains, steps=150):
    upper, lower = first_guess(grains)
    model = Discordia(len(grains["68"][0]), upper, lower)
    optimizer = torch.optim.Adam([
        {"params": [model.upper, model.lower], "lr": 8.0},
        {"params": [model.loss_logit, model.log_scatter], "lr": 0.05},
    ])
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 50, 0.4)
    trace = []
    for step in range(steps):
        optimizer.zero_grad()
        nll = model.misfit(grains)
        nll.backward()
        optimizer.step()
        schedule.step()
        trace.append((nll.item(), model.upper.item(), model.lower.item()))
        if (step + 1) % 50 == 0:
            print("%4d  nll %8.3f  upper %7.1f Ma  lower %6.1f Ma" % (step + 1, *trace[-1]))
    return model, np.array(trace)


def main():
    torch.manual_seed(82)
    rng = np.random.default_rng(82)
    grains = measure(40, upper=2680.0, lower=540.0, rng=rng)
    model, trace = fit(grains)
    tail = trace[-20:]
    print("upper %.1f +- %.1f (of the tail)" % (tail[:, 1].mean(), tail[:, 1].std()))
    print("excess scatter %.4f" % model.log_scatter.exp().item())


if __name__ == "__main__":
    main()
