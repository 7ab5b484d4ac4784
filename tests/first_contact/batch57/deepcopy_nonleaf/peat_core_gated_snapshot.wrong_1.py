# expect: pattern = deepcopy-nonleaf
# expect: raises = RuntimeError: Only Tensors created explicitly by the user
# expect: carrier = last_gates
"""Which of nine chemical tracers date a peat core? Gated regression, the best model is kept."""
import copy

import torch
import torch.nn as nn


class GatedDating(nn.Module):
    """A soft gate for each tracer; the gates of the last batch are kept for the figure."""

    def __init__(self, tracers=9, hidden=20):
        super().__init__()
        self.gate = nn.Linear(tracers, tracers)
        self.body = nn.Sequential(nn.Linear(tracers, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        self.last_gates = None

    def forward(self, x):
        gates = torch.sigmoid(self.gate(x))
        self.last_gates = gates.detach()  # expect: place
        return self.body(gates * x).squeeze(-1)


class BestKeeper:
    def __init__(self, patience=6):
        self.patience, self.bad = patience, 0
        self.score, self.model = float("inf"), None

    def offer(self, model, score):
        if score < self.score:
            self.score, self.bad = score, 0
            self.model = copy.deepcopy(model)  # expect: place
        else:
            self.bad += 1
        return self.bad >= self.patience


def cores(n):
    depth = torch.rand(n)
    x = torch.randn(n, 9) * 0.3
    x[:, 0] += 2.0 * depth
    x[:, 3] += torch.sin(3.0 * depth)
    x[:, 7] -= depth ** 2
    return x, 4.0 * depth - 2.0


def train(epochs=25):
    torch.manual_seed(8)
    x, y = cores(256)
    held_x, held_y = x[200:], y[200:]
    model = GatedDating()
    keeper = BestKeeper()
    opt = torch.optim.AdamW(model.parameters(), lr=8e-3)
    for epoch in range(epochs):
        order = torch.randperm(200)
        held = 0.0
        with torch.no_grad():
            held = nn.functional.mse_loss(model(held_x), held_y).item()
        for idx in order.split(40):
            opt.zero_grad()
            err = nn.functional.mse_loss(model(x[idx]), y[idx])
            sparse = model.last_gates.mean()
            (err + 0.05 * sparse).backward()
            opt.step()
        if keeper.offer(model, held):
            break
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d}  held-out {held:.4f}  gates {sparse.item():.3f}")
    print("best", round(keeper.score, 4), [round(v, 2) for v in model.last_gates.mean(0).tolist()])


train()
