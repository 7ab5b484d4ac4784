# expect: pattern = derived-outside-loop
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = adaptive, adaptive_adj, supports, self.adaptive, self.supports
"""Traffic speed forecast: diffusion convolution over the road graph plus a learned graph."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn


def road_graph(n_sensors, neighbours=2):
    adj = torch.eye(n_sensors)
    for shift in range(1, neighbours + 1):
        adj += torch.roll(torch.eye(n_sensors), shift, dims=0) / shift
    return adj / adj.sum(1, keepdim=True)


def synthetic_speeds(n_sensors, steps):
    t = torch.arange(steps).float().unsqueeze(1)
    phase = torch.rand(n_sensors) * 6.28
    speed = 50 + 10 * torch.sin(t / 12 + phase) + torch.randn(steps, n_sensors)
    return (speed - speed.mean()) / speed.std()


class DiffusionConv(nn.Module):
    def __init__(self, c_in, c_out, n_supports, order=2):
        super().__init__()
        self.order = order
        self.mix = nn.Linear(c_in * (1 + order * n_supports), c_out)

    def forward(self, x, supports):
        out = [x]
        for a in supports:
            h = x
            for _ in range(self.order):
                h = torch.einsum("bnc,nm->bmc", h, a)
                out.append(h)
        return self.mix(torch.cat(out, dim=-1))


class SpeedForecaster(nn.Module):
    def __init__(self, roads, window, horizon, hidden=24, rank=6):
        super().__init__()
        n = roads.shape[0]
        self.source_emb = nn.Parameter(torch.randn(n, rank))
        self.target_emb = nn.Parameter(torch.randn(n, rank))
        adaptive = F.softmax(F.relu(self.source_emb @ self.target_emb.t()), dim=1)  # expect: place
        self.supports = [roads, roads.t(), adaptive]  # expect: place
        self.enter = nn.Linear(window, hidden)
        self.blocks = nn.ModuleList(DiffusionConv(hidden, hidden, len(self.supports)) for _ in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(2))
        self.leave = nn.Linear(hidden, horizon)

    def forward(self, x):
        h = self.enter(x.transpose(1, 2))
        for block, norm in zip(self.blocks, self.norms):
            h = norm(h + F.gelu(block(h, self.supports)))  # expect: place
        return self.leave(h).transpose(1, 2)


class WindowSampler:
    def __init__(self, series, window, horizon, batch_size):
        self.series, self.window, self.horizon, self.batch_size = series, window, horizon, batch_size

    def __call__(self):
        last = len(self.series) - self.window - self.horizon
        starts = torch.randint(0, last, (self.batch_size,)).tolist()
        cut = [s + self.window for s in starts]
        x = torch.stack([self.series[s:c] for s, c in zip(starts, cut)])
        y = torch.stack([self.series[c:c + self.horizon] for c in cut])
        return x, y


def masked_mae(pred, target, null=0.0):
    mask = (target != null).float()
    return ((pred - target).abs() * mask).sum() / mask.sum().clamp(min=1)


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--sensors", type=int, default=14)
    p.add_argument("--window", type=int, default=12)
    p.add_argument("--horizon", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--iters", type=int, default=6)
    return p.parse_args([])


def main():
    args = parse()
    torch.manual_seed(3)
    sample = WindowSampler(synthetic_speeds(args.sensors, 400), args.window, args.horizon, args.batch_size)
    model = SpeedForecaster(road_graph(args.sensors), args.window, args.horizon)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-4)
    for it in range(args.iters):
        x, y = sample()
        loss = masked_mae(model(x), y)
        optimizer.zero_grad()
        loss.backward()  # expect: place
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        print(f"iter {it}: mae {loss.item():.4f}")


if __name__ == "__main__":
    main()
