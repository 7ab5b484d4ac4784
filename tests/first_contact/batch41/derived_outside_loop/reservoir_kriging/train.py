# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.L, L, K
"""Porosity between the wells of a reservoir (kriging with a Matern and a linear kernel)."""
import torch

from gp import GPRegression
from kernels import Linear, Matern32


def wells(n):
    X = torch.rand(n, 2)
    porosity = 0.4 * torch.sin(5 * X[:, 0]) + 0.3 * torch.cos(4 * X[:, 1]) + 0.2 * X[:, 0]
    return X, porosity + 0.05 * torch.randn(n)


def fit(model, n_iter, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for i in range(n_iter):
        optimizer.zero_grad()
        loss = model.nll()
        loss.backward()  # expect: place
        optimizer.step()
        if i % 10 == 0:
            print("iter %3d  nll %.3f  noise %.4f" % (i, loss.item(), model.noise.item()))


if __name__ == "__main__":
    torch.manual_seed(8)
    X, y = wells(60)
    X_test, y_test = wells(30)
    model = GPRegression(X, y, Matern32(2) + Linear())
    fit(model, 40, 0.05)
    mean, var = model.predict(X_test)
    print("rmse %.4f" % (mean - y_test).pow(2).mean().sqrt().item())
