# expect: pattern = none
"""Differentially private training of a survey model: gradients clipped person by person."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def per_person_gradients(model, x, y):
    """one forward for the lot, then a walk for each person"""
    losses = F.cross_entropy(model(x), y, reduction="none")
    grads = []
    for i, loss in enumerate(losses):
        model.zero_grad()
        loss.backward(retain_graph=i < len(losses) - 1)
        grads.append([p.grad.detach().clone() for p in model.parameters()])
    return grads, losses.mean().item()


def private_mean(grads, clip, sigma):
    total = [torch.zeros_like(g) for g in grads[0]]
    for g in grads:
        norm = torch.sqrt(sum(t.pow(2).sum() for t in g))
        factor = min(1.0, clip / (norm.item() + 1e-6))
        for acc, t in zip(total, g):
            acc += factor * t
    return [(t + sigma * clip * torch.randn_like(t)) / len(grads) for t in total]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clip", type=float, default=1.0)
    parser.add_argument("--sigma", type=float, default=0.6)
    parser.add_argument("--lot", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(0)
    rng = np.random.default_rng(0)

    answers = torch.from_numpy(rng.integers(0, 5, size=(300, 9))).float() / 4
    party = (answers[:, :3].sum(1) - answers[:, 3:6].sum(1) > 0).long()
    model = nn.Sequential(nn.Linear(9, 16), nn.ReLU(), nn.Linear(16, 2))
    opt = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    for r in range(args.rounds):
        pick = torch.from_numpy(rng.choice(300, args.lot, replace=False))
        grads, loss = per_person_gradients(model, answers[pick], party[pick])
        opt.zero_grad()
        for p, g in zip(model.parameters(), private_mean(grads, args.clip, args.sigma)):
            p.grad = g
        opt.step()
        print(r, round(loss, 4))


if __name__ == "__main__":
    main()
