"""Fit of a damped oscillation to noisy accelerometer readings with L-BFGS."""
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(1)
rng = np.random.default_rng(1)

t_np = np.linspace(0.0, 6.0, 150)
clean = 1.8 * np.exp(-0.35 * t_np) * np.cos(2.6 * t_np + 0.4) + 0.2
noise_level = 0.03 + 0.04 * rng.random(t_np.size)
reading = clean + noise_level * rng.normal(size=t_np.size)

t = torch.tensor(t_np, dtype=torch.float32)
y = torch.tensor(reading, dtype=torch.float32)
sigma = torch.tensor(noise_level, dtype=torch.float32)


class DampedCosine(nn.Module):
    def __init__(self):
        super().__init__()
        self.amplitude = nn.Parameter(torch.tensor(1.0))
        self.log_decay = nn.Parameter(torch.tensor(-1.5))
        self.omega = nn.Parameter(torch.tensor(2.4))
        self.phase = nn.Parameter(torch.tensor(0.0))
        self.offset = nn.Parameter(torch.tensor(0.0))

    def forward(self, t):
        envelope = self.amplitude * torch.exp(-self.log_decay.exp() * t)
        return envelope * torch.cos(self.omega * t + self.phase) + self.offset


def chi_square(fit, y, sigma):
    residual = (fit - y) / sigma
    return residual.pow(2).mean()


model = DampedCosine()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=10, history_size=8)

history = []
for outer in range(8):
    def closure():
        optimizer.zero_grad()
        fit = model(t)
        loss = chi_square(fit, y, sigma)
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    history.append(loss.item())
    print(f"{outer}: chi2 = {history[-1]:.4f}")

for name, parameter in model.named_parameters():
    print(f"{name:>10s} = {parameter.item():+.4f}")
