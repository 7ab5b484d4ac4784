"""Learn a dispatch rule for a community battery by differentiating through one simulated day."""
import math

import torch
import torch.nn as nn

HOURS = 24
CAPACITY = 8.0      # kWh
ETA = 0.94          # one way
WEAR = 0.02         # EUR per kWh moved


def sample_days(n, gen):
    hour = torch.arange(HOURS).float()
    load = 1.2 + 0.8 * torch.sin((hour - 13) / 24 * 2 * math.pi) + 0.2 * torch.rand(n, HOURS, generator=gen)
    solar = torch.relu(torch.sin((hour - 6) / 12 * math.pi)) * (1.5 + torch.rand(n, 1, generator=gen))
    price = 0.22 + 0.12 * torch.sin((hour - 12) / 24 * 2 * math.pi) + 0.02 * torch.randn(n, HOURS, generator=gen)
    return load, solar, price


class DispatchRule(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, width), nn.Tanh(), nn.Linear(width, 2))

    def forward(self, hour, load, solar, price, level):
        h = torch.full_like(load, hour / HOURS)
        x = torch.stack([h, load, solar, price * 4, level / CAPACITY], dim=1)
        return torch.sigmoid(self.body(x)).unbind(dim=1)


def run_day(rule, load, solar, price):
    n = load.shape[0]
    soc = torch.zeros(n, HOURS + 1)
    soc[:, 0] = 0.5 * CAPACITY
    bill = torch.zeros(n)
    for t in range(HOURS):
        frac_in, frac_out = rule(t, load[:, t], solar[:, t], price[:, t], soc[:, t])
        charge = 0.5 * frac_in * (CAPACITY - soc[:, t])
        discharge = 0.5 * frac_out * soc[:, t].detach().clone()
        soc[:, t + 1] = soc[:, t] + ETA * charge - discharge
        grid = load[:, t] - solar[:, t] + charge - ETA * discharge
        bill = bill + price[:, t] * torch.relu(grid) - 0.06 * torch.relu(-grid)
        bill = bill + WEAR * (charge + discharge)
    # what is left at midnight is worth something tomorrow
    bill = bill - 0.2 * ETA * soc[:, -1]
    return bill, soc


def main():
    torch.manual_seed(11)
    gen = torch.Generator().manual_seed(3)
    rule = DispatchRule()
    opt = torch.optim.Adam(rule.parameters(), lr=1e-2)
    for step in range(6):
        load, solar, price = sample_days(16, gen)
        bill, soc = run_day(rule, load, solar, price)
        loss = bill.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"step {step}  bill {loss.item():.3f}  mean level {soc.detach().mean().item():.2f} kWh")


if __name__ == "__main__":
    main()
