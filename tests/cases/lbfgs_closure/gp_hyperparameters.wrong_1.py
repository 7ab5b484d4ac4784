# Fits a Gaussian process: the covariance is formed once and the closure only solves with it.
import math

import torch
from torch import nn


class RBF(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(()))
        self.log_noise = nn.Parameter(torch.tensor(-1.0))

    def forward(self, x):
        d = torch.cdist(x, x).pow(2)
        return torch.exp(-0.5 * d / self.log_scale.exp() ** 2) + self.log_noise.exp() * torch.eye(len(x))


def fit(x, y, sweeps=2):
    kernel = RBF()
    mean = nn.Parameter(torch.zeros(()))
    optimizer = torch.optim.LBFGS([*kernel.parameters(), mean], lr=0.3, max_iter=6)
    for sweep in range(sweeps):
        K = kernel(x).detach()

        def closure():
            optimizer.zero_grad()
            L = torch.linalg.cholesky(K)
            alpha = torch.cholesky_solve((y - mean).unsqueeze(1), L).squeeze(1)
            nll = 0.5 * (y - mean) @ alpha + L.diagonal().log().sum() + 0.5 * len(x) * math.log(6.283)
            nll.backward()
            return nll

        value = optimizer.step(closure)
        print(sweep, value.item(), kernel.log_scale.item(), kernel.log_noise.item())


torch.manual_seed(8)
x = torch.linspace(0, 4, 20).unsqueeze(1)
fit(x, torch.sin(2 * x.squeeze(1)) + 0.1 * torch.randn(20))
