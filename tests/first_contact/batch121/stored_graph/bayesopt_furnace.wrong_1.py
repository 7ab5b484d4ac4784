"""Bayesian optimisation of a (fake) furnace schedule with a GP written from scratch."""
import math

import torch


def furnace_yield(x):
    """Black box: two settings in [0, 1], noisy yield."""
    t, p = x[..., 0], x[..., 1]
    clean = torch.exp(-12 * (t - 0.65) ** 2 - 8 * (p - 0.3) ** 2) + 0.4 * torch.exp(-30 * (t - 0.2) ** 2)
    return clean + 0.01 * torch.randn_like(clean)


class GaussianProcess:
    def __init__(self, dim):
        self.log_lengthscale = torch.full((dim,), math.log(0.3), requires_grad=True)
        self.log_outputscale = torch.tensor(0.0, requires_grad=True)
        self.log_noise = torch.tensor(math.log(1e-2), requires_grad=True)

    def parameters(self):
        return [self.log_lengthscale, self.log_outputscale, self.log_noise]

    def kernel(self, a, b):
        diff = (a.unsqueeze(-2) - b.unsqueeze(-3)) / self.log_lengthscale.exp()
        return self.log_outputscale.exp() * torch.exp(-0.5 * diff.pow(2).sum(-1))

    def _covariance(self):
        n = self.X.shape[0]
        return self.kernel(self.X, self.X) + (self.log_noise.exp() + 1e-5) * torch.eye(n)

    def neg_mll(self):
        L = torch.linalg.cholesky(self._covariance())
        alpha = torch.cholesky_solve(self.y.unsqueeze(-1), L)
        fit = 0.5 * (self.y.unsqueeze(0) @ alpha).squeeze()
        return fit + L.diagonal().log().sum()

    def fit(self, X, y, steps=25):
        self.mean_y = y.mean()
        self.X, self.y = X, y - self.mean_y
        optimizer = torch.optim.Adam(self.parameters(), lr=0.05)
        for _ in range(steps):
            optimizer.zero_grad()
            loss = self.neg_mll()
            loss.backward()
            optimizer.step()
        self._update_cache()
        return loss.item()

    def _update_cache(self):
        self.L = torch.linalg.cholesky(self._covariance())
        self.alpha = torch.cholesky_solve(self.y.unsqueeze(-1), self.L)

    def predict(self, x):
        k = self.kernel(x, self.X)
        mean = self.mean_y + (k @ self.alpha).squeeze(-1)
        v = torch.linalg.solve_triangular(self.L, k.transpose(-1, -2), upper=False)
        var = self.log_outputscale.exp() - v.pow(2).sum(-2)
        return mean, var.clamp_min(1e-8).sqrt()


def expected_improvement(gp, x, best):
    with torch.no_grad():
        mean, std = gp.predict(x)
    u = (mean - best) / std
    pdf = torch.exp(-0.5 * u ** 2) / math.sqrt(2 * math.pi)
    cdf = 0.5 * (1 + torch.erf(u / math.sqrt(2)))
    return std * (u * cdf + pdf)


def propose(gp, best, restarts=4, steps=15):
    x = torch.rand(restarts, 2, requires_grad=True)
    optimizer = torch.optim.Adam([x], lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = -expected_improvement(gp, x, best).sum()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            x.clamp_(0, 1)
    with torch.no_grad():
        ei = expected_improvement(gp, x, best)
    return x.detach()[ei.argmax()].unsqueeze(0)


torch.manual_seed(21)
X = torch.rand(6, 2)
y = furnace_yield(X)
gp = GaussianProcess(2)
for trial in range(4):
    nll = gp.fit(X, y)
    x_new = propose(gp, y.max())
    y_new = furnace_yield(x_new)
    X, y = torch.cat([X, x_new]), torch.cat([y, y_new])
    print(f"trial {trial}: nll {nll:.3f}, tried {x_new.squeeze().tolist()}, best so far {y.max():.3f}")
