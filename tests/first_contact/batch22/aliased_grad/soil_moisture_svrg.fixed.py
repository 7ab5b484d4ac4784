"""
SVRG for a small network (reference code of our workshop paper, Alg. 1).

Every outer round keeps a snapshot of the weights and the full gradient mu at the snapshot;
the inner rounds walk along   g_i(w) - g_i(snapshot) + mu.
"""
import copy

import torch
from torch import nn

HIDDEN, INNER, OUTER, ETA = 10, 12, 4, 0.05


def soil(n, generator):
    x = torch.randn(n, 5, generator=generator)
    w = torch.tensor([0.8, -0.5, 0.3, 0.0, 0.6])
    return x, torch.tanh(x @ w).unsqueeze(1) + 0.05 * torch.randn(n, 1, generator=generator)


def clear(model):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.zero_()


def gradient(model, loss_fn, x, y):
    """Gradient of the loss at the model's weights, one tensor a parameter."""
    clear(model)
    loss_fn(model(x), y).backward()
    return [p.grad.clone() for p in model.parameters()]


class SVRG:
    def __init__(self, model, loss_fn, eta):
        self.model, self.loss_fn, self.eta = model, loss_fn, eta
        self.snapshot = copy.deepcopy(model)
        self.mu = None

    def renew(self, x, y):
        self.snapshot.load_state_dict(self.model.state_dict())
        self.mu = gradient(self.snapshot, self.loss_fn, x, y)

    def step(self, x, y):
        here = gradient(self.model, self.loss_fn, x, y)
        there = gradient(self.snapshot, self.loss_fn, x, y)
        with torch.no_grad():
            for p, g, g0, mu in zip(self.model.parameters(), here, there, self.mu):
                p.sub_(self.eta * (g - g0 + mu))


def main():
    torch.manual_seed(8)
    generator = torch.Generator().manual_seed(8)
    x, y = soil(240, generator)
    model = nn.Sequential(nn.Linear(5, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1))
    method = SVRG(model, nn.MSELoss(), ETA)
    for outer in range(OUTER):
        method.renew(x, y)
        for inner in range(INNER):
            pick = torch.randint(0, len(x), (8,), generator=generator)
            method.step(x[pick], y[pick])
        with torch.no_grad():
            print("outer %d   full loss %.5f" % (outer, method.loss_fn(model(x), y)))


if __name__ == "__main__":
    main()
