"""Strain of an arch dam from reservoir level and air temperature.

A diagonal state-space filter with complex poles, trained on the record as it streams in.
"""
import torch
from torch import nn


class PoleBank(nn.Module):
    def __init__(self, inputs, poles):
        super().__init__()
        self.log_decay = nn.Parameter(torch.linspace(-3.0, -0.5, poles))
        self.angle = nn.Parameter(torch.linspace(0.05, 1.2, poles))
        self.B = nn.Parameter(0.3 * torch.randn(poles, inputs, 2))
        self.C = nn.Parameter(0.3 * torch.randn(poles, 2))
        self.D = nn.Linear(inputs, 1)
        self.state = None

    def forward(self, block):
        lam = torch.exp(torch.complex(-self.log_decay.exp(), self.angle))
        drive = torch.einsum("bti,pi->btp", block.to(torch.cfloat), torch.view_as_complex(self.B))
        z = self.state
        if z is None:
            z = torch.zeros(block.shape[0], lam.shape[0], dtype=torch.cfloat)
        zs = []
        for t in range(block.shape[1]):
            z = lam * z + drive[:, t]
            zs.append(z)
        self.state = z
        read = torch.einsum("btp,p->bt", torch.stack(zs, 1), torch.view_as_complex(self.C)).real
        return read + self.D(block).squeeze(-1)


def record(gauges, hours, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(hours) / 24.0
    level = torch.cumsum(torch.randn(gauges, hours, generator=g), 1) * 0.05
    air = torch.sin(6.28 * t + torch.rand(gauges, 1, generator=g)) + 0.2 * torch.randn(gauges, hours, generator=g)
    strain, lag = torch.zeros(gauges, hours), torch.zeros(gauges)
    for k in range(hours):
        lag = 0.9 * lag + 0.1 * air[:, k]
        strain[:, k] = 0.6 * level[:, k] - lag
    return torch.stack([level, air], -1), strain


def held_out_error(bank, x, y):
    kept, bank.state = bank.state, None
    with torch.no_grad():
        error = (bank(x) - y).pow(2).mean().sqrt().item()
    bank.state = kept
    return error


def main():
    torch.manual_seed(4)
    bank = PoleBank(2, 8)
    opt = torch.optim.Adam(bank.parameters(), lr=2e-2)
    x, y = record(6, 24 * 20, 1)
    test = record(3, 24 * 6, 2)
    for passes in range(2):
        bank.state = None
        for day, (xb, yb) in enumerate(zip(x.split(24, 1), y.split(24, 1))):
            bank.state = None
            opt.zero_grad()
            misfit = (bank(xb) - yb).pow(2).mean()
            misfit.backward()
            nn.utils.clip_grad_norm_(bank.parameters(), 1.0)
            opt.step()
            if day % 10 == 9:
                print(f"pass {passes} day {day + 1}: misfit {misfit.item():.4f}, "
                      f"held-out rmse {held_out_error(bank, *test):.4f}")


main()
