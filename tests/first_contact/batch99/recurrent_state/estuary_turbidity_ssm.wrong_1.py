"""Turbidity at four piers of an estuary, one diagonal state-space model, read day by day."""
import math

import torch
from torch import nn

PIERS = ["ferry", "weir", "silo", "point"]
DAYS, STEPS = 6, 32


class DiagonalSSM(nn.Module):
    """x' = lambda x + B u, y = Re(C x) + D u, with lambda inside of the unit circle."""

    def __init__(self, n_in, n_state):
        super().__init__()
        self.log_rate = nn.Parameter(torch.linspace(-3.5, -0.5, n_state))
        self.angle = nn.Parameter(torch.linspace(0.0, math.pi / 3, n_state))
        self.B = nn.Parameter(torch.randn(n_state, n_in, dtype=torch.cfloat) * 0.3)
        self.C = nn.Parameter(torch.randn(n_state, dtype=torch.cfloat) * 0.3)
        self.D = nn.Parameter(torch.zeros(n_in))

    def initial(self):
        return torch.zeros(len(self.log_rate), dtype=torch.cfloat)

    def forward(self, u, x):
        lam = torch.polar(torch.exp(-torch.exp(self.log_rate)), self.angle)
        drive = u.to(torch.cfloat) @ self.B.T
        out = []
        for t in range(len(u)):
            x = lam * x + drive[t]
            out.append((x * self.C).real.sum())
        return torch.stack(out) + u @ self.D, x


def tide_and_rain(pier, gen):
    t = torch.arange(DAYS * STEPS, dtype=torch.float32)
    tide = torch.sin(2 * math.pi * t / 12.4 + 0.7 * pier)
    rain = (torch.rand(len(t), generator=gen) < 0.06).float() * 2.0
    silt, level = torch.zeros(len(t)), 0.0
    for k in range(len(t)):
        level = 0.88 * level + 0.35 * float(rain[k]) + 0.15 * abs(float(tide[k]))
        silt[k] = level
    silt = silt - silt.mean() + 0.05 * torch.randn(len(t), generator=gen)
    return torch.stack([tide, rain], 1), silt


def by_day(series):
    """Days in the order of the calendar, the piers within a day in that of the boat's round."""
    for day in range(DAYS):
        cut = slice(day * STEPS, (day + 1) * STEPS)
        for pier in PIERS:
            u, y = series[pier]
            yield pier, u[cut], y[cut]


def score(net, series):
    with torch.no_grad():
        return {p: nn.functional.mse_loss(net(u, net.initial())[0], y).item()
                for p, (u, y) in series.items()}


def main():
    torch.manual_seed(28)
    gen = torch.Generator().manual_seed(5)
    series = {pier: tide_and_rain(k, gen) for k, pier in enumerate(PIERS)}
    net = DiagonalSSM(2, 6)
    opt = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=1e-4)
    best = float("inf")
    for week in range(3):
        carry = {pier: net.initial() for pier in PIERS}
        running = 0.0
        for pier, u, y in by_day(series):
            guess, state = net(u, carry[pier])
            loss = nn.functional.mse_loss(guess, y)
            opt.zero_grad()
            loss.backward(retain_graph=True)
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            carry[pier] = state
            running += loss.item()
        marks = score(net, series)
        best = min(best, sum(marks.values()))
        worst = max(marks, key=marks.get)
        print(f"week {week}: {running / (DAYS * len(PIERS)):.4f}, worst {worst} {marks[worst]:.4f}")
    print(f"best total {best:.4f}")


if __name__ == "__main__":
    main()
