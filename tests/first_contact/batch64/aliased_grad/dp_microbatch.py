# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = rows, grad
"""DP-SGD on patient readmission data, by hand: clip every patient's gradient, add noise, step."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

CLIP = 0.8
SIGMA = 0.6
LOT = 24
STEPS = 40


def make_records(n, gen):
    x = torch.randn(n, 10, generator=gen)
    x[:, 3] = x[:, 3].abs() * 2          # number of earlier stays
    risk = 0.9 * x[:, 3] - 1.2 * x[:, 0] + 0.4 * x[:, 1] * x[:, 2] - 1.0
    y = (torch.rand(n, generator=gen) < torch.sigmoid(risk)).float()
    return x, y


def record_gradients(model, x, y):
    """One list of gradients per patient, in the order of model.parameters()."""
    rows = []
    for xi, yi in zip(x, y):
        model.zero_grad(set_to_none=False)  # expect: place
        logit = model(xi.unsqueeze(0)).view(())
        F.binary_cross_entropy_with_logits(logit, yi).backward()  # expect: place
        rows.append([p.grad for p in model.parameters()])  # expect: place
    return rows


def clip_factor(row, bound):
    norm = math.sqrt(sum(g.pow(2).sum().item() for g in row))
    return min(1.0, bound / (norm + 1e-6)), norm


def privatize(rows, lot, gen):  # expect: place
    total = [torch.zeros_like(g) for g in rows[0]]
    norms = []
    for row in rows:
        factor, norm = clip_factor(row, CLIP)
        norms.append(norm)
        for acc, g in zip(total, row):
            acc.add_(g, alpha=factor)  # expect: place
    for acc in total:
        acc.add_(torch.randn(acc.shape, generator=gen) * SIGMA * CLIP)
        acc.div_(lot)
    return total, norms


def epsilon(steps, q, sigma, delta=1e-4):
    # rough moments bound, fine for a printout
    return q * math.sqrt(steps * math.log(1 / delta)) / sigma


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        hit = ((model(x).view(-1) > 0).float() == y).float().mean().item()
    model.train()
    return hit


def main():
    torch.manual_seed(23)
    gen = torch.Generator().manual_seed(99)
    x, y = make_records(600, gen)
    model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.8, momentum=0.5)
    for step in range(STEPS):
        lot = torch.rand(len(x), generator=gen) < LOT / len(x)
        rows = record_gradients(model, x[lot], y[lot])
        noisy, norms = privatize(rows, LOT, gen)
        for p, g in zip(model.parameters(), noisy):
            p.grad = g
        opt.step()
        if step % 10 == 9:
            print(f"step {step + 1:3d} median norm {sorted(norms)[len(norms) // 2]:.2f} "
                  f"acc {evaluate(model, x, y):.3f} eps~{epsilon(step + 1, LOT / len(x), SIGMA):.2f}")


if __name__ == "__main__":
    main()
