"""Deep ensemble for the brightness after the D2 stage, with an eye on unknown furnish."""
import torch

from bleachery import TAGS, bootstrap, shifts
from ensemble import Ensemble

MEMBERS, EPOCHS, BATCH, SEED = 5, 12, 32, 88


def nll(mean, log_var, y, counts):
    each = 0.5 * (log_var + (y - mean) ** 2 / log_var.exp())
    return (counts * each).sum(1).div(counts.sum(1).clamp_min(1)).sum()


def epoch(ensemble, opt, x, y, counts):
    total = 0.0
    for rows in torch.randperm(len(x)).split(BATCH):
        mean, log_var = ensemble(x[rows])
        loss = nll(mean, log_var, y[rows], counts[:, rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(rows)
    return total / len(x) / len(ensemble)


def report(ensemble, name, x, y):
    mean, noise, doubt = ensemble.forecast(x)
    rmse = (mean - y).pow(2).mean().sqrt()
    print(f"{name:>12}: rmse {rmse:.3f}  noise {noise.mean():.3f}  disagreement {doubt.mean():.3f}")


def main():
    torch.manual_seed(SEED)
    x, y = shifts(160)
    counts = bootstrap(len(x), MEMBERS)
    usual, odd = shifts(80), shifts(80, spread=2.5)
    ensemble = Ensemble(len(TAGS), MEMBERS)
    opt = torch.optim.Adam(ensemble.parameters(), lr=1e-2)
    for number in range(EPOCHS):
        value = epoch(ensemble, opt, x, y, counts)
        if number % 3 == 0:
            print(f"epoch {number:2d}  nll {value:.3f}")
    report(ensemble, "usual", *usual)
    report(ensemble, "odd furnish", *odd)


if __name__ == "__main__":
    main()
