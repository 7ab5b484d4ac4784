# expect: pattern = growing-history
# expect: also = stored-graph
# expect: raises = nothing
# expect: carrier = smooth, self.smooth, monitor, value, loss
"""Forecast traffic speed on a ring of road sensors with a two layer graph convolution."""
import numpy as np
import torch
import torch.nn as nn


def ring_roads(n_nodes, extra, rng):
    adj = np.zeros((n_nodes, n_nodes), dtype=np.float32)
    for i in range(n_nodes):
        adj[i, (i + 1) % n_nodes] = adj[(i + 1) % n_nodes, i] = 1
    for a, b in rng.integers(0, n_nodes, size=(extra, 2)):
        adj[a, b] = adj[b, a] = 1
    np.fill_diagonal(adj, 1)
    d = adj.sum(1) ** -0.5
    return torch.from_numpy(d[:, None] * adj * d[None])


def traffic(n_nodes, n_times, rng):
    t = np.arange(n_times)[:, None]
    phase = rng.uniform(0, 2, size=n_nodes)
    speed = 50 - 15 * np.exp(-((t % 48 - 16 - phase) / 4) ** 2) - 10 * np.exp(-((t % 48 - 34) / 5) ** 2)
    speed = speed + rng.normal(scale=1.5, size=speed.shape)
    return torch.from_numpy(((speed - 45) / 10).astype(np.float32))


class GraphConv(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.own = nn.Linear(n_in, n_out)
        self.near = nn.Linear(n_in, n_out, bias=False)

    def forward(self, x, adj):
        return self.own(x) + adj @ self.near(x)


class RoadNet(nn.Module):
    def __init__(self, lags, hidden=24, drop=0.1):
        super().__init__()
        self.g1 = GraphConv(lags, hidden)
        self.g2 = GraphConv(hidden, hidden)
        self.drop = nn.Dropout(drop)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, adj):
        h = torch.relu(self.g1(x, adj))
        h = self.drop(h) + torch.relu(self.g2(h, adj))
        return x[..., -1] + self.out(h).squeeze(-1)


class Monitor:
    """Exponentially smoothed loss and the lowest value that it reached."""

    def __init__(self, rate=0.05):
        self.rate, self.smooth, self.lowest = rate, None, float("inf")

    def update(self, value):
        if self.smooth is None:
            self.smooth = value  # expect: place
        self.smooth = (1 - self.rate) * self.smooth + self.rate * value  # expect: place
        self.lowest = min(self.lowest, float(self.smooth))

    def __str__(self):
        return f"smoothed {float(self.smooth):.4f}  lowest {self.lowest:.4f}"


def main():
    rng = np.random.default_rng(13)
    torch.manual_seed(13)
    nodes, lags, steps = 18, 6, 150
    adj = ring_roads(nodes, 6, rng)
    series = traffic(nodes, 400, rng)

    model = RoadNet(lags)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    loss_fn = nn.HuberLoss()
    monitor = Monitor()

    for step in range(steps):
        starts = rng.integers(0, 350 - lags, size=16)
        x = torch.stack([series[s : s + lags].T for s in starts])
        y = torch.stack([series[s + lags] for s in starts])
        loss = loss_fn(model(x, adj), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        monitor.update(loss)  # expect: place
        if step % 30 == 0:
            print(f"{step:4d}  {monitor}")

    model.eval()
    with torch.no_grad():
        x = torch.stack([series[s : s + lags].T for s in range(350, 390)])
        y = torch.stack([series[s + lags] for s in range(350, 390)])
        mae = (model(x, adj) - y).abs().mean() * 10
    print(f"mae {mae:.2f} km/h")


if __name__ == "__main__":
    main()
