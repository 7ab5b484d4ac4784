"""Matrix factorisation of recipe ratings, with a home-made optimizer."""
import numpy as np
import torch


class DecayingSGD:
    """Plain SGD whose rate falls as 1 / (1 + decay * t)."""

    def __init__(self, params, lr=1.0, decay=0.01):
        self.params = list(params)
        self.lr, self.decay, self.t = lr, decay, 0

    @torch.no_grad()
    def step(self):
        rate = self.lr / (1 + self.decay * self.t)
        self.t += 1
        for p in self.params:
            p -= rate * p.grad

    def zero_grad(self):
        for p in self.params:
            if p.grad is not None:
                p.grad.zero_()


class Factoriser:
    def __init__(self, n_users, n_items, rank, mean):
        self.P = (0.1 * torch.randn(n_users, rank)).requires_grad_()
        self.Q = (0.1 * torch.randn(n_items, rank)).requires_grad_()
        self.bu = torch.zeros(n_users, requires_grad=True)
        self.bi = torch.zeros(n_items, requires_grad=True)
        self.mean = mean

    def parameters(self):
        return [self.P, self.Q, self.bu, self.bi]

    def predict(self, u, i):
        return self.mean + self.bu[u] + self.bi[i] + (self.P[u] * self.Q[i]).sum(1)

    def penalty(self, u, i):
        return (self.P[u] ** 2).sum(1).mean() + (self.Q[i] ** 2).sum(1).mean()


def ratings(n_users=40, n_items=30, n=900, rank=3):
    rng = np.random.default_rng(77)
    p, q = rng.normal(size=(n_users, rank)), rng.normal(size=(n_items, rank))
    u, i = rng.integers(0, n_users, n), rng.integers(0, n_items, n)
    r = 3.2 + 0.5 * (p[u] * q[i]).sum(1) + 0.2 * rng.normal(size=n)
    return torch.as_tensor(u), torch.as_tensor(i), torch.as_tensor(r, dtype=torch.float32)


def batches(u, i, r, size):
    order = torch.randperm(len(r))
    for k in range(0, len(r), size):
        b = order[k : k + size]
        yield u[b], i[b], r[b]


torch.manual_seed(77)
u, i, r = ratings()
train, held = slice(0, 750), slice(750, None)
model = Factoriser(40, 30, rank=3, mean=r[train].mean().item())
opt = DecayingSGD(model.parameters(), lr=0.8)
for epoch in range(15):
    opt.zero_grad()
    sse = 0.0
    for ub, ib, rb in batches(u[train], i[train], r[train], 50):
        err = model.predict(ub, ib) - rb
        loss = (err**2).mean() + 0.02 * model.penalty(ub, ib)
        loss.backward()
        sse += (err.detach() ** 2).sum().item()
    opt.step()
    with torch.no_grad():
        rmse = (model.predict(u[held], i[held]) - r[held]).pow(2).mean().sqrt()
    print(f"{epoch:2d}  train {np.sqrt(sse / 750):.3f}  held out {rmse:.3f}")
