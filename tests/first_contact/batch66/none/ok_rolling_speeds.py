# expect: pattern = none
# expect: raises = nothing
# Rolling speed forecast on a ring road: the recurrent state lives through the
# whole day, weights are updated every third window, and a forecast should not
# jump compared with what we said about the same minutes one window earlier.
from collections import deque

import torch
from torch import nn

torch.manual_seed(23)

SENSORS, WINDOW, HORIZON, EVERY = 10, 6, 12, 3


def ring(n):
    a = torch.eye(n)
    idx = torch.arange(n)
    a[idx, (idx + 1) % n] = 1.0
    a[idx, (idx - 1) % n] = 0.5
    return a / a.sum(dim=1, keepdim=True)


class GraphGate(nn.Module):
    def __init__(self, c_in, hidden):
        super().__init__()
        self.gates = nn.Linear(2 * (c_in + hidden), 2 * hidden)
        self.cand = nn.Linear(2 * (c_in + hidden), hidden)

    def forward(self, x, h, road):
        def spread(z):
            return torch.cat([z, road @ z], dim=-1)

        r, u = torch.sigmoid(self.gates(spread(torch.cat([x, h], dim=-1)))).chunk(2, dim=-1)
        c = torch.tanh(self.cand(spread(torch.cat([x, r * h], dim=-1))))
        return u * h + (1 - u) * c


class DayForecaster(nn.Module):
    def __init__(self, hidden=12):
        super().__init__()
        self.hidden = hidden
        self.cell = GraphGate(1, hidden)
        self.read = nn.Linear(hidden, HORIZON)
        self.register_buffer("road", ring(SENSORS))
        self.state = None

    def wake_up(self):
        self.state = torch.zeros(SENSORS, self.hidden)

    def forward(self, window):
        h = self.state.detach()
        for speeds in window:
            h = self.cell(speeds.unsqueeze(-1), h, self.road)
        self.state = h
        return self.read(h).t()


def one_day(minutes=96):
    t = torch.arange(minutes).float().unsqueeze(1)
    phase = torch.linspace(0, 2, SENSORS)
    rush = torch.exp(-((t / minutes - 0.3) ** 2) / 0.01) + torch.exp(-((t / minutes - 0.75) ** 2) / 0.01)
    return torch.sin(t / 9 + phase) * 0.4 - rush + 0.05 * torch.randn(minutes, SENSORS)


def train(model, days, smooth=0.2):
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for n, day in enumerate(days):
        model.wake_up()
        recent = deque(maxlen=1)
        mae, count = 0.0, 0
        opt.zero_grad()
        for k, start in enumerate(range(0, len(day) - WINDOW - HORIZON + 1, WINDOW)):
            window = day[start:start + WINDOW]
            truth = day[start + WINDOW:start + WINDOW + HORIZON]
            forecast = model(window)
            loss = (forecast - truth).abs().mean()
            if recent:
                loss = loss + smooth * (forecast[:HORIZON - WINDOW] - recent[0][WINDOW:]).abs().mean()
            (loss / EVERY).backward()
            recent.append(forecast.detach())
            mae, count = mae + (forecast - truth).abs().mean().item(), count + 1
            if (k + 1) % EVERY == 0:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                opt.zero_grad()
        print(f"day {n}: mae {mae / count:.3f} over {count} windows")


train(DayForecaster(), [one_day() for _ in range(4)])
