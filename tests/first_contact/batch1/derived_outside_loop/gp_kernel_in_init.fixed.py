import math

import torch
import torch.nn as nn


class RBFKernel(nn.Module):
    def __init__(self, lengthscale=1.0, outputscale=1.0):
        super().__init__()
        self.log_ls = nn.Parameter(torch.tensor(math.log(lengthscale)))
        self.log_os = nn.Parameter(torch.tensor(math.log(outputscale)))

    def forward(self, a, b):
        d2 = (a[:, None] - b[None]).pow(2).sum(-1)
        return self.log_os.exp() * torch.exp(-0.5 * d2 / self.log_ls.exp() ** 2)


class ExactGP(nn.Module):
    """GP regression on features from a small network (deep kernel)."""

    def __init__(self, X, y, kernel, noise=0.1):
        super().__init__()
        self.X, self.y = X, y
        self.features = nn.Sequential(nn.Linear(X.shape[1], 8), nn.Tanh(), nn.Linear(8, 2))
        self.kernel = kernel
        self.log_noise = nn.Parameter(torch.tensor(math.log(noise)))
        self.mean = nn.Parameter(torch.zeros(()))
        self.refresh()

    def refresh(self):
        z = self.features(self.X)
        K = self.kernel(z, z) + self.log_noise.exp() * torch.eye(len(self.X))
        self.L = torch.linalg.cholesky(K)

    def neg_mll(self):
        r = (self.y - self.mean).unsqueeze(1)
        alpha = torch.cholesky_solve(r, self.L)
        fit = 0.5 * (r * alpha).sum()
        logdet = self.L.diagonal().log().sum()
        return (fit + logdet + 0.5 * len(r) * math.log(2 * math.pi)) / len(r)

    @torch.no_grad()
    def predict(self, X_new):
        k = self.kernel(self.features(X_new), self.features(self.X))
        return self.mean + (k @ torch.cholesky_solve((self.y - self.mean).unsqueeze(1), self.L)).squeeze(1)


def fit(gp, steps=12, lr=0.05):
    opt = torch.optim.Adam(gp.parameters(), lr=lr)
    for i in range(steps):
        opt.zero_grad()
        gp.refresh()
        loss = gp.neg_mll()
        loss.backward()
        opt.step()
        if i % 4 == 0:
            print("step %2d  -mll/n %.4f  noise %.4f" % (i, loss.item(), gp.log_noise.exp().item()))
    return gp


torch.manual_seed(13)
X = torch.rand(25, 2) * 4 - 2
y = torch.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.05 * torch.randn(25)
gp = fit(ExactGP(X, y, RBFKernel()))
X_test = torch.tensor([[0.0, 0.0], [1.0, -1.0]])
print("prediction", [round(v, 3) for v in gp.predict(X_test).tolist()])
