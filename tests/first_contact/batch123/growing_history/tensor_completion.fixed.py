"""Fill the gaps of a (users x items x weeks) table with a low-rank CP model."""
import time

import numpy as np
import torch


class CPModel:
    def __init__(self, shape, rank, gen):
        self.factors = [(0.4 * torch.randn(n, rank, generator=gen)).requires_grad_() for n in shape]
        self.weights = torch.ones(rank, requires_grad=True)

    def parameters(self):
        return [*self.factors, self.weights]

    def dense(self):
        a, b, c = self.factors
        return torch.einsum("ir,jr,kr,r->ijk", a, b, c, self.weights)


class MaskedError:
    def __init__(self, table, observed):
        self.table, self.observed = table, observed

    def __call__(self, model):
        gap = (model.dense() - self.table) * self.observed
        return gap.pow(2).sum() / self.observed.sum()


class Smoothness:
    """Neighbouring weeks should look alike."""

    def __init__(self, weight):
        self.weight = weight

    def __call__(self, model):
        weeks = model.factors[2]
        return self.weight * (weeks[1:] - weeks[:-1]).pow(2).mean()


def optimize(model, terms, optimizer, max_iter=150, tol=1e-6, print_freq=50):
    """Minimise the sum of `terms`; returns the losses of every iteration, a column for each term."""
    start = time.time()
    loss_history = []
    for iteration in range(max_iter):
        optimizer.zero_grad()
        losses = [term(model) for term in terms]
        loss = sum(losses)
        loss.backward()
        optimizer.step()
        loss_history.append([part.detach() for part in losses])

        if iteration % print_freq == 0:
            parts = " + ".join(f"{part.item():.5f}" for part in losses)
            print(f"iter {iteration:4d} | {parts} = {loss.item():.5f}")
        if iteration >= 10:
            before = sum(loss_history[-10])
            if abs(before.item() - loss.item()) < tol:
                print("converged")
                break
    print(f"{iteration + 1} iterations in {time.time() - start:.1f} s")
    return loss_history


def synthetic_table(shape, rank, rng):
    a, b = rng.normal(size=(shape[0], rank)), rng.normal(size=(shape[1], rank))
    c = np.cumsum(0.3 * rng.normal(size=(shape[2], rank)), axis=0) + 1
    full = np.einsum("ir,jr,kr->ijk", a, b, c)
    return torch.tensor(full, dtype=torch.float32)


def main():
    rng = np.random.default_rng(8)
    gen = torch.Generator().manual_seed(8)
    shape = (12, 10, 8)
    table = synthetic_table(shape, rank=2, rng=rng)
    observed = (torch.rand(shape, generator=gen) < 0.5).float()
    model = CPModel(shape, rank=4, gen=gen)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    terms = [MaskedError(table, observed), Smoothness(0.05)]
    history = optimize(model, terms, optimizer)
    with torch.no_grad():
        hidden = 1 - observed
        rmse = (((model.dense() - table) * hidden).pow(2).sum() / hidden.sum()).sqrt().item()
    print(f"held-out RMSE {rmse:.3f}, first/last loss {sum(history[0]).item():.3f} / {sum(history[-1]).item():.4f}")


if __name__ == "__main__":
    main()
