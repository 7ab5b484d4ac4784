

"""Coffee roasting: end colour from the bean temperature curve, with a mean-field
Bayesian network. The report shows how the cost splits into fit and complexity."""
import math
from dataclasses import dataclass, field

import torch
from torch import nn
import torch.nn.functional as F


class GaussianLinear(nn.Module):
    def __init__(self, n_in, n_out, prior_sd=0.5):
        super().__init__()
        self.mean = nn.Parameter(torch.randn(n_out, n_in) / math.sqrt(n_in))
        self.rho = nn.Parameter(torch.full((n_out, n_in), -4.0))
        self.bias = nn.Parameter(torch.zeros(n_out))
        self.prior_sd = prior_sd

    def forward(self, x):
        sd = F.softplus(self.rho)
        w = self.mean + sd * torch.randn_like(sd)
        return F.linear(x, w, self.bias)

    def kl(self):
        sd = F.softplus(self.rho)
        ratio = (sd / self.prior_sd) ** 2
        return 0.5 * (ratio + (self.mean / self.prior_sd) ** 2 - 1 - ratio.log()).sum()


class RoastNet(nn.Module):
    def __init__(self, points=10, width=16):
        super().__init__()
        self.a = GaussianLinear(points, width)
        self.b = GaussianLinear(width, 1)

    def forward(self, curve):
        return self.b(F.softplus(self.a(curve))).squeeze(1)

    def complexity(self):
        return self.a.kl() + self.b.kl()


@dataclass
class Report:
    fit_seen: float = 0.0
    kl_seen: float = 0.0
    batches: int = 0
    lines: list = field(default_factory=list)

    def note(self, fit, kl):
        self.fit_seen += fit.item()
        self.kl_seen += kl
        self.batches += 1

    def line(self, epoch):
        n = self.batches
        self.lines.append(f"epoch {epoch}: fit {self.fit_seen / n:.4f}  kl {self.kl_seen / n:.2f}")
        return self.lines[-1]


def roasts(n):
    t = torch.linspace(0, 1, 10)
    heat = 0.5 + torch.rand(n, 1)
    curve = 1 - torch.exp(-2.5 * heat * t) + 0.02 * torch.randn(n, 10)
    colour = 2.0 * (heat.squeeze(1) - 1.0) + 0.1 * torch.randn(n)
    return curve, colour


def main(epochs=5, n=96, batch=16):
    torch.manual_seed(77)
    curve, colour = roasts(n)
    net = RoastNet()
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    report = Report()
    for epoch in range(epochs):
        for idx in torch.randperm(n).split(batch):
            kl = net.complexity().detach()
            fit = F.gaussian_nll_loss(net(curve[idx]), colour[idx], torch.full((len(idx),), 0.02))
            cost = fit + kl / n
            opt.zero_grad()
            cost.backward()
            opt.step()
            report.note(fit, kl)
        print(report.line(epoch))


if __name__ == "__main__":
    main()
