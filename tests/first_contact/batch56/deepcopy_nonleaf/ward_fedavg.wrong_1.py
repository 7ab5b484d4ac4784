# Readmission risk over five hospitals, nobody shares patients (federated averaging, FedProx term)
import copy

import numpy as np
import torch
import torch.nn.functional as F

CFG = dict(features=8, hidden=12, rounds=6, local_steps=5, lr=0.1, prox=0.05)


def fresh_weights(cfg):
    f, h = cfg["features"], cfg["hidden"]
    shapes = {"w1": (f, h), "b1": (h,), "w2": (h, 1), "b2": (1,)}
    return {k: (torch.randn(s) / np.sqrt(s[0]) if len(s) > 1 else torch.zeros(s)).requires_grad_()
            for k, s in shapes.items()}


def risk(weights, x):
    h = torch.tanh(x @ weights["w1"] + weights["b1"])
    return (h @ weights["w2"] + weights["b2"]).squeeze(1)


class Hospital:
    """Keeps its patients; receives global weights, returns its own."""

    def __init__(self, name, n, shift, rng):
        self.name = name
        x = rng.normal(shift, 1.0, size=(n, CFG["features"]))
        logit = 1.2 * x[:, 0] - 0.8 * x[:, 1] * x[:, 2] + 0.3
        y = rng.uniform(size=n) < 1 / (1 + np.exp(-logit))
        self.x = torch.tensor(x, dtype=torch.float32)
        self.y = torch.tensor(y, dtype=torch.float32)

    def __len__(self):
        return len(self.y)

    def loss(self, weights):
        return F.binary_cross_entropy_with_logits(risk(weights, self.x), self.y)

    def train(self, global_weights, cfg):
        local = {k: v.detach().requires_grad_() for k, v in global_weights.items()}
        anchor = {k: v.detach().clone() for k, v in global_weights.items()}
        opt = torch.optim.SGD(local.values(), lr=cfg["lr"], momentum=0.5)
        for _ in range(cfg["local_steps"]):
            drift = sum(((local[k] - anchor[k]) ** 2).sum() for k in local)
            objective = self.loss(local) + cfg["prox"] / 2 * drift
            opt.zero_grad()
            objective.backward()
            opt.step()
        return local


def aggregate(updates, sizes):
    total = float(sum(sizes))
    merged = {}
    for key in updates[0]:
        merged[key] = sum(n / total * u[key] for u, n in zip(updates, sizes))
    return merged


def federated(hospitals, cfg):
    weights = fresh_weights(cfg)
    sizes = [len(h) for h in hospitals]
    for rnd in range(cfg["rounds"]):
        updates = [h.train(weights, cfg) for h in hospitals]
        weights = aggregate(updates, sizes)
        with torch.no_grad():
            losses = [h.loss(weights).item() for h in hospitals]
        print("round", rnd, " ".join("%s %.3f" % (h.name, l) for h, l in zip(hospitals, losses)))
    return weights


if __name__ == "__main__":
    torch.manual_seed(5)
    rng = np.random.default_rng(5)
    sites = [Hospital(n, k, s, rng) for n, k, s in
             [("north", 90, 0.0), ("river", 60, 0.3), ("abbey", 120, -0.2), ("hill", 45, 0.5), ("quay", 75, -0.4)]]
    final = federated(sites, CFG)
    pooled = sum(len(h) * h.loss(final).item() for h in sites) / sum(map(len, sites))
    print("pooled loss %.3f" % pooled)
