"""A linear recurrent unit with poles on the complex disc."""
import math

import torch
from torch import nn


class LRU(nn.Module):
    def __init__(self, width, poles, r_min=0.6, r_max=0.95):
        super().__init__()
        u = torch.rand(poles)
        radius = torch.sqrt(u * (r_max**2 - r_min**2) + r_min**2)
        self.nu_log = nn.Parameter(torch.log(-torch.log(radius)))
        self.theta_log = nn.Parameter(torch.log(math.pi / 4 * torch.rand(poles)))
        self.B = nn.Parameter(torch.randn(width, poles, 2) / math.sqrt(2 * width))
        self.C = nn.Parameter(torch.randn(poles, width, 2) / math.sqrt(poles))
        self.D = nn.Parameter(torch.ones(width))
        self.poles = poles

    def at_rest(self, batch):
        return torch.zeros(batch, self.poles, dtype=torch.cfloat)

    def eigenvalues(self):
        return torch.exp(torch.complex(-torch.exp(self.nu_log), torch.exp(self.theta_log)))

    def forward(self, u, x):
        lam = self.eigenvalues()
        gamma = torch.sqrt(1 - lam.abs() ** 2)
        driven = torch.einsum("btw,wp->btp", u.to(torch.cfloat), torch.view_as_complex(self.B)) * gamma
        xs = []
        for t in range(u.shape[1]):
            x = lam * x + driven[:, t]
            xs.append(x)
        y = torch.einsum("btp,pw->btw", torch.stack(xs, 1), torch.view_as_complex(self.C)).real
        return y + u * self.D, x
