# expect: pattern = starved-parameter
# expect: also = higher-order
# expect: raises = nothing
# expect: carrier = rates, fast
"""Split times of hurdlers: start weights and step sizes are learnt over athletes (meta-SGD)."""
import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class SplitNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.hidden = nn.Linear(3, width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x))).squeeze(-1)


class Rates(nn.Module):
    """One step size for every number of the model."""

    def __init__(self, model, start=0.05):
        super().__init__()
        self.values = nn.ParameterList(
            nn.Parameter(torch.full_like(p, start)) for p in model.parameters()  # expect: place
        )

    def __iter__(self):
        return iter(self.values)


def athlete(rng, n=12):
    strength, fatigue = rng.uniform(0.5, 1.5), rng.uniform(0, 0.6)
    x = rng.normal(size=(2 * n, 3)).astype(np.float32)
    y = strength * x[:, 0] - fatigue * x[:, 1] * x[:, 2]
    x, y = torch.from_numpy(x), torch.from_numpy(y.astype(np.float32))
    return (x[:n], y[:n]), (x[n:], y[n:])


def adapt(model, rates, support):
    x, y = support
    loss = F.mse_loss(model(x), y)
    grads = torch.autograd.grad(loss, list(model.parameters()))
    fast = {
        name: p - rate * g  # expect: place
        for (name, p), rate, g in zip(model.named_parameters(), rates, grads)
    }
    learner = copy.deepcopy(model)
    learner.load_state_dict(fast)  # expect: place
    return learner


def meta_step(model, rates, optimizer, athletes):
    optimizer.zero_grad()
    total = 0.0
    for support, query in athletes:
        learner = adapt(model, rates, support)  # expect: place
        x, y = query
        loss = F.mse_loss(learner(x), y) / len(athletes)
        loss.backward()
        for p, q in zip(model.parameters(), learner.parameters()):  # first order
            p.grad = q.grad.clone() if p.grad is None else p.grad + q.grad
        total += loss.item()
    optimizer.step()
    return total


def main():
    torch.manual_seed(9)
    rng = np.random.default_rng(9)
    model = SplitNet()
    rates = Rates(model)
    optimizer = torch.optim.Adam([*model.parameters(), *rates.parameters()], lr=5e-3)  # expect: place
    for step in range(25):
        total = meta_step(model, rates, optimizer, [athlete(rng) for _ in range(4)])
        if step % 6 == 0:
            mean = torch.cat([r.flatten() for r in rates]).mean().item()
            print(f"step {step}: query loss {total:.4f}, mean rate {mean:.4f}")


if __name__ == "__main__":
    main()
