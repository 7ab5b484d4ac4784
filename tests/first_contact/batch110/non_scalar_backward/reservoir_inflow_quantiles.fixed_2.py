"""Inflow into a reservoir three days ahead: quantile forecasts, with floods weighted up."""
import torch
from torch import nn

QUANTILES = torch.tensor([0.05, 0.25, 0.5, 0.75, 0.95])


class Forecaster(nn.Module):
    """The median and positive gaps around it, so that the quantiles cannot cross."""

    def __init__(self, past, hidden=32):
        super().__init__()
        self.past = nn.GRU(2, hidden, batch_first=True)
        self.median = nn.Linear(hidden, 1)
        self.gaps = nn.Linear(hidden, len(QUANTILES) - 1)

    def forward(self, x):
        _, h = self.past(x)
        middle = self.median(h[-1])
        gaps = nn.functional.softplus(self.gaps(h[-1]))
        below = middle - gaps[:, :2].flip(1).cumsum(1).flip(1)
        above = middle + gaps[:, 2:].cumsum(1)
        return torch.cat([below, middle, above], 1)


def pinball(forecast, inflow, weight):
    miss = inflow[:, None] - forecast
    each = torch.maximum(QUANTILES * miss, (QUANTILES - 1) * miss)
    return (weight[:, None] * each).sum(0) / weight.sum()


def catchment(days, seed, past=10, lead=3):
    g = torch.Generator().manual_seed(seed)
    rain = torch.relu(torch.randn(days, generator=g) - 0.3) * 2
    flow = torch.zeros(days)
    for d in range(1, days):
        flow[d] = 0.8 * flow[d - 1] + 0.3 * rain[d - 1] + 0.05 * torch.randn((), generator=g).abs()
    series = torch.stack([rain, flow], 1)
    windows = series.unfold(0, past, 1).transpose(1, 2)[:-lead]
    return windows.contiguous(), flow[past + lead - 1:]


def coverage(model, x, y):
    with torch.no_grad():
        q = model(x)
    return ((y > q[:, 0]) & (y < q[:, -1])).float().mean().item()


def main():
    torch.manual_seed(14)
    x, y = catchment(500, 1)
    test = catchment(250, 2)
    model = Forecaster(past=10)
    opt = torch.optim.Adam(model.parameters(), lr=8e-3)
    flood = torch.quantile(y, 0.9)
    for epoch in range(3):
        tally = torch.zeros(len(QUANTILES))
        for rows in torch.randperm(len(x)).split(48):
            weight = 1.0 + 2.0 * (y[rows] > flood).float()
            loss = pinball(model(x[rows]), y[rows], weight)
            opt.zero_grad()
            loss.sum().backward()
            opt.step()
            tally += loss.detach()
        print(f"epoch {epoch}: losses by quantile {[round(v, 2) for v in tally.tolist()]}, "
              f"90% band covers {coverage(model, *test):.2f}")


if __name__ == "__main__":
    main()
