"""Synthetic log of a jacketed batch reactor (scaled temperature and conversion)."""
import torch


class BatchLog:
    def __init__(self, n, horizon, dt=0.2):
        self.y0 = torch.stack([0.2 * torch.rand(n), torch.zeros(n)], dim=1)
        base = 0.3 + 0.5 * torch.rand(n, 1)
        self.jacket = base + 0.2 * torch.sin(0.4 * torch.arange(horizon).float() + base * 6)
        y, path = self.y0, []
        for k in range(horizon):
            temp, conv = y.unbind(1)
            rate = (1 - conv) * torch.exp(2.0 * temp - 1.5)
            dtemp = 0.8 * rate - 1.1 * (temp - self.jacket[:, k])
            y = y + dt * torch.stack([dtemp, rate], dim=1)
            path.append(y)
        self.path = torch.stack(path, dim=1) + 0.01 * torch.randn(n, horizon, 2)

    def batches(self, size):
        for idx in torch.randperm(len(self.y0)).split(size):
            yield self.y0[idx], self.jacket[idx], self.path[idx]
