"""Population pharmacokinetics of gentamicin in newborns, by gradient descent (MAP).

One compartment, short infusions, clearance that rises with weight and age; each child deviates
from the typical values by its own eta (with a normal prior).
"""
import argparse

import numpy as np
import torch


def make_children(n, seed):
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.8, 4.2, n)
    age = rng.uniform(0, 20, n)  # days
    cl = 0.10 * (weight / 2.5) ** 0.75 * np.exp(0.03 * (age - 7)) * np.exp(rng.normal(0, 0.2, n))
    v = 1.25 * (weight / 2.5) * np.exp(rng.normal(0, 0.15, n))
    dose = 4.0 * weight
    times = np.sort(rng.uniform(1.0, 47.0, (n, 4)), axis=1)
    conc = levels_np(cl, v, dose, times) * np.exp(rng.normal(0, 0.1, times.shape))
    as_t = lambda a: torch.tensor(a, dtype=torch.float32)
    return {"weight": as_t(weight), "age": as_t(age), "dose": as_t(dose), "t": as_t(times), "y": as_t(conc)}


def levels_np(cl, v, dose, t, every=24.0, inf=0.5):
    ke = (cl / v)[:, None]
    out = 0.0
    for start in (0.0, every):
        since = np.maximum(t - start - inf, 0.0)
        on = t > start + inf
        out = out + on * (dose / inf / cl)[:, None] * (1 - np.exp(-ke * inf)) * np.exp(-ke * since)
    return out


class Population:
    """Fixed effects, kept on scales without bounds."""

    def __init__(self):
        self.log_cl = torch.tensor(-1.6, requires_grad=True)
        self.log_v = torch.tensor(0.8, requires_grad=True)
        self.slope = torch.tensor(0.0, requires_grad=True)
        self.logit_bound = torch.tensor(-3.0, requires_grad=True)

    def parameters(self):
        return [self.log_cl, self.log_v, self.slope, self.logit_bound]

    def natural(self):
        return {"cl": self.log_cl.exp(), "v": self.log_v.exp(),
                "ageing": 0.1 * torch.tanh(self.slope), "free": 1 - torch.sigmoid(self.logit_bound)}


def predict(typical, eta, kids, every=24.0, inf=0.5):
    size = kids["weight"] / 2.5
    cl = typical["cl"] * size ** 0.75 * torch.exp(typical["ageing"] * (kids["age"] - 7) + eta[:, 0])
    v = typical["v"] * size * torch.exp(eta[:, 1])
    ke = (cl / v)[:, None]
    total = 0.0
    for start in (0.0, every):
        since = (kids["t"] - start - inf).clamp(min=0)
        on = (kids["t"] > start + inf).float()
        total = total + on * (kids["dose"] / inf / cl)[:, None] * (1 - torch.exp(-ke * inf)) * torch.exp(-ke * since)
    return typical["free"] * total


def fit(pop, kids, args):
    eta = torch.zeros(len(kids["weight"]), 2, requires_grad=True)
    omega = torch.tensor([0.2, 0.15])
    optimizer = torch.optim.Adam([{"params": pop.parameters(), "lr": args.lr},
                                  {"params": [eta], "lr": args.lr / 2}])
    typical = pop.natural()
    for it in range(args.iterations):
        optimizer.zero_grad()
        pred = predict({name: value.clone() for name, value in typical.items()}, eta, kids)
        residual = (torch.log(kids["y"] + 1e-3) - torch.log(pred + 1e-3)) / args.sigma
        prior = (eta / omega).pow(2).sum() / 2
        objective = residual.pow(2).sum() / 2 + prior
        objective.backward(retain_graph=True)
        optimizer.step()
        if it % args.every == args.every - 1:
            print("iteration %3d  objective %9.2f  shrinkage %.2f" % (
                it + 1, objective.item(), 1 - (eta.detach() / omega).std().item()))
    return eta.detach()


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--iterations", type=int, default=120)
    ap.add_argument("--every", type=int, default=30)
    ap.add_argument("--lr", type=float, default=0.03)
    ap.add_argument("--sigma", type=float, default=0.15)
    args = ap.parse_args([])
    torch.manual_seed(3)
    kids = make_children(60, seed=3)
    pop = Population()
    eta = fit(pop, kids, args)
    print({name: round(value.item(), 3) for name, value in pop.natural().items()})
    print("largest deviation of a child: %.2f" % eta.abs().max().item())
