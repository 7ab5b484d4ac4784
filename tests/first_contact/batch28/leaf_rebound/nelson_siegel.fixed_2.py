# Yield curve of one trading day, Nelson-Siegel-Svensson, plain gradient descent.
# (was: tf.GradientTape + assign_sub)
import numpy as np
import torch

maturities = torch.tensor([0.25, 0.5, 1, 2, 3, 5, 7, 10, 15, 20, 30])
rng = np.random.default_rng(4)


def loadings(tau, lam):
    z = tau / lam
    slope = (1 - torch.exp(-z)) / z
    return slope, slope - torch.exp(-z)


def curve(params, tau):
    s1, c1 = loadings(tau, torch.nn.functional.softplus(params["lam1"]))
    _, c2 = loadings(tau, torch.nn.functional.softplus(params["lam2"]))
    b = params["beta"]
    return b[0] + b[1] * s1 + b[2] * c1 + b[3] * c2


def market_quotes():
    true = {"beta": torch.tensor([3.9, -2.1, 1.2, 0.6]), "lam1": torch.tensor(1.3), "lam2": torch.tensor(6.0)}
    y = curve(true, maturities)
    return y + torch.from_numpy(rng.normal(0, 0.02, size=y.shape)).float()


def fit(quotes, weights, n_iter=200, lr=None):
    lr = lr or {"beta": 0.1, "lam1": 0.05, "lam2": 0.05}
    params = {
        "beta": torch.tensor([3.0, 0.0, 0.0, 0.0], requires_grad=True),
        "lam1": torch.tensor(1.0, requires_grad=True),
        "lam2": torch.tensor(4.0, requires_grad=True),
    }
    for i in range(n_iter):
        err = curve(params, maturities) - quotes
        loss = (weights * err ** 2).sum() / weights.sum()
        loss.backward()
        for name in params:
            moved = params[name] - lr[name] * params[name].grad
            params[name] = moved.detach().requires_grad_(True)
        if i % 40 == 0:
            print("iter %d rmse %.4f bp" % (i, 100 * loss.item() ** 0.5))
    return {k: v.detach().numpy() for k, v in params.items()}


if __name__ == "__main__":
    quotes = market_quotes()
    duration_weights = 1.0 / (0.5 + maturities.sqrt())
    result = fit(quotes, duration_weights)
    for key, value in result.items():
        print(key, np.round(value, 3))
