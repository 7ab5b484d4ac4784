"""Differentiable Muskingum routing of a flood wave down a river of six reaches.

Roughness and slope coefficients of the reaches are found from the gauge at the mouth.
"""
import torch
import torch.nn as nn

DT = 0.5          # hours
REACHES = 6


class Muskingum(nn.Module):
    def __init__(self, k0=1.2, x0=0.2):
        super().__init__()
        self.log_k = nn.Parameter(torch.full((REACHES,), k0).log())
        self.logit_x = nn.Parameter(torch.logit(torch.full((REACHES,), 2 * x0)))

    def coefficients(self):
        k, x = self.log_k.exp(), 0.5 * torch.sigmoid(self.logit_x)
        den = k * (1 - x) + DT / 2
        c0 = (DT / 2 - k * x) / den
        c1 = (DT / 2 + k * x) / den
        c2 = (k * (1 - x) - DT / 2) / den
        return c0, c1, c2

    def forward(self, inflow):
        """inflow: (events, hours) at the head; gives discharge of each reach over time."""
        c0, c1, c2 = self.coefficients()
        events, hours = inflow.shape
        q = torch.zeros(events, hours, REACHES + 1)
        q[:, :, 0] = inflow
        q[:, 0, :] = inflow[:, :1]
        for t in range(1, hours):
            for r in range(REACHES):
                q[:, t, r + 1] = c0[r] * q[:, t, r].clone() + c1[r] * q[:, t - 1, r].clone() + c2[r] * q[:, t - 1, r + 1].clone()
        return q[:, :, 1:]


def flood(events, hours):
    t = torch.arange(hours) * DT
    peak = 2 + 3 * torch.rand(events, 1)
    size = 20 + 60 * torch.rand(events, 1)
    return 5 + size * torch.exp(-((t - peak) / 1.5) ** 2)


def main():
    torch.manual_seed(17)
    river = Muskingum()
    with torch.no_grad():
        truth = Muskingum(k0=0.8, x0=0.3)
        head = flood(5, 18)
        gauge = truth(head)[:, :, -1] + 0.3 * torch.randn(5, 18)

    optim = torch.optim.Adam(river.parameters(), lr=0.05)
    for it in range(12):
        optim.zero_grad()
        flow = river(head)
        nse = 1 - (flow[:, :, -1] - gauge).pow(2).sum() / (gauge - gauge.mean()).pow(2).sum()
        (-nse).backward()
        optim.step()
        if it % 4 == 3:
            print(f"it {it + 1}: NSE {nse.item():.4f}, K {river.log_k.exp().mean().item():.3f} h")


if __name__ == "__main__":
    main()
