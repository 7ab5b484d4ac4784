import math

import torch
from torch import nn

from kernels import softplus_inv


class GPRegression(nn.Module):
    """Exact GP. The Cholesky factor belongs to the current hyperparameters."""

    def __init__(self, X, y, kernel, noise=0.05, jitter=1e-5):
        super().__init__()
        self.kernel = kernel
        self.mean = nn.Parameter(y.mean())
        self.raw_noise = nn.Parameter(softplus_inv(noise))
        self.jitter = jitter
        self.set_data(X, y)

    @property
    def noise(self):
        return nn.functional.softplus(self.raw_noise)

    def set_data(self, X, y):
        self.X, self.y = X, y

    @property
    def L(self):
        K = self.kernel(self.X, self.X) + (self.noise + self.jitter) * torch.eye(len(self.X))
        return torch.linalg.cholesky(K)

    def nll(self):
        L = self.L
        r = (self.y - self.mean).unsqueeze(1)
        alpha = torch.linalg.solve_triangular(L, r, upper=False)
        return 0.5 * alpha.pow(2).sum() + L.diagonal().log().sum() + 0.5 * len(r) * math.log(2 * math.pi)

    @torch.no_grad()
    def predict(self, X_new):
        k = self.kernel(self.X, X_new)
        v = torch.linalg.solve_triangular(self.L, k, upper=False)
        w = torch.linalg.solve_triangular(self.L, (self.y - self.mean).unsqueeze(1), upper=False)
        mean = self.mean + (v.T @ w).squeeze(1)
        var = self.kernel(X_new, X_new).diagonal() - v.pow(2).sum(0)
        return mean, var
