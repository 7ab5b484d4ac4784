# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = weights
"""Smooth the light of variable stars by a kernel whose widths in phase and colour are learnt, leaving
each observation out of its own estimate."""
import numpy as np
import torch


class LeaveOneOutSmoother(torch.nn.Module):
    def __init__(self, n_features):
        super().__init__()
        self.log_width = torch.nn.Parameter(torch.full((n_features,), -0.5))
        self.log_floor = torch.nn.Parameter(torch.tensor(-3.0))

    def kernel(self, a, b):
        scaled = (a[:, None, :] - b[None, :, :]) / self.log_width.exp()
        return torch.exp(-0.5 * scaled.square().sum(-1))

    def forward(self, x, y, err):
        weights = self.kernel(x, x)
        weights = weights * (1 - torch.eye(len(x)))
        return self.average(weights, y, err)

    def average(self, weights, y, err):
        precision = 1.0 / (err ** 2 + torch.exp(2 * self.log_floor))
        weights = torch.sqrt(weights * precision + 1e-12)  # expect: place
        weights /= weights.sum(dim=1, keepdim=True)  # expect: place
        return weights @ y


def observe(n=60, seed=3):
    rng = np.random.default_rng(seed)
    phase = rng.uniform(0, 1, n)
    colour = rng.normal(0.6, 0.1, n)
    err = rng.uniform(0.02, 0.1, n)
    mag = 12 + 0.4 * np.sin(2 * np.pi * phase) + 0.8 * (colour - 0.6) + err * rng.normal(size=n)
    features = np.column_stack([np.cos(2 * np.pi * phase), np.sin(2 * np.pi * phase), colour])
    return [torch.from_numpy(a.astype(np.float32)) for a in (features, mag, err)]


x, mag, err = observe()
mag = mag - mag.mean()
model = LeaveOneOutSmoother(x.shape[1])
opt = torch.optim.Adam(model.parameters(), lr=0.1)
best = float("inf")
for it in range(15):
    opt.zero_grad()
    estimate = model(x, mag, err)
    chi2 = ((estimate - mag) / err).square().mean()
    chi2.backward()  # expect: place
    opt.step()
    best = min(best, chi2.item())
print("leave-one-out chi2", best, "widths", model.log_width.exp().tolist())
