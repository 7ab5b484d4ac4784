# Spatio-temporal GP for monthly sea level at a handful of gauges.
# Product kernel, exact inference through the Cholesky factor, hyperparameters by Adam.
import math
import torch


def standardise(y):
    return (y - y.mean()) / y.std()


class RBF(torch.nn.Module):
    def __init__(self, length, amp=1.0):
        super().__init__()
        self.log_length = torch.nn.Parameter(torch.tensor(float(length)).log())
        self.log_amp = torch.nn.Parameter(torch.tensor(float(amp)).log())

    @property
    def length(self):  # positive by construction
        return self.log_length.exp()

    @property
    def amp(self):
        return self.log_amp.exp()

    def forward(self, a, b):
        sq = (a.unsqueeze(1) - b.unsqueeze(0)).pow(2).sum(-1)
        return self.amp * torch.exp(-0.5 * sq / self.length ** 2)


class GaugeGP(torch.nn.Module):
    def __init__(self, where, when, height):
        super().__init__()
        self.where, self.when = where, when
        self.y = height
        self.k_space = RBF(0.4)
        self.k_time = RBF(2.0)
        self.log_noise = torch.nn.Parameter(torch.tensor(-2.0))

    def covariance(self):
        k = self.k_space(self.where, self.where) * self.k_time(self.when, self.when)
        return k + (self.log_noise.exp() + 1e-5) * torch.eye(len(self.y))

    def nll(self):
        L = torch.linalg.cholesky(self.covariance())
        alpha = torch.cholesky_solve(self.y[:, None], L)
        fit = 0.5 * (self.y[:, None] * alpha).sum()
        return fit + L.diagonal().log().sum() + 0.5 * len(self.y) * math.log(2 * math.pi)

    def train_adam(self, niter, lr):
        optimizer = torch.optim.Adam(self.parameters(), lr=lr)
        for i in range(niter):
            optimizer.zero_grad()
            loss = self.nll()
            loss.backward()
            optimizer.step()
            if i % 5 == 0:
                print(f"iter {i:3d}  nll {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(11)
    stations, months = 5, 8
    coords = torch.rand(stations, 2)
    where = coords.repeat_interleave(months, 0)
    when = torch.arange(months).float().repeat(stations)[:, None]
    height = torch.sin(0.8 * when[:, 0] + 2 * where[:, 0]) + 0.1 * torch.randn(stations * months)
    gp = GaugeGP(where, when, standardise(height))
    gp.train_adam(niter=16, lr=0.05)
    print("noise", gp.log_noise.exp().item())
