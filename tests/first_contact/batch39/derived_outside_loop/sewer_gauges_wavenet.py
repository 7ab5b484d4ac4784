# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = supports
"""Levels in a sewer network, graph WaveNet in small: pipes as given, plus an adjacency that is learnt."""
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class GCN(nn.Module):
    def __init__(self, c_in, c_out, support_len, order=2):
        super().__init__()
        self.order = order
        self.mlp = nn.Conv2d((order * support_len + 1) * c_in, c_out, kernel_size=(1, 1))

    def forward(self, x, supports):
        out = [x]
        for a in supports:
            h = x
            for _ in range(self.order):
                h = torch.einsum("ncvl,vw->ncwl", h, a).contiguous()
                out.append(h)
        return self.mlp(torch.cat(out, dim=1))


class GaugeNet(nn.Module):
    def __init__(self, num_nodes, horizon, channels=8, layers=2, rank=4, support_len=3):
        super().__init__()
        self.nodevec1 = nn.Parameter(torch.randn(num_nodes, rank))
        self.nodevec2 = nn.Parameter(torch.randn(rank, num_nodes))
        self.start = nn.Conv2d(1, channels, (1, 1))
        self.filters = nn.ModuleList(nn.Conv2d(channels, channels, (1, 2), dilation=2**i) for i in range(layers))
        self.gates = nn.ModuleList(nn.Conv2d(channels, channels, (1, 2), dilation=2**i) for i in range(layers))
        self.gconv = nn.ModuleList(GCN(channels, channels, support_len) for _ in range(layers))
        self.end = nn.Conv2d(channels, horizon, (1, 1))

    def all_supports(self, pipes):
        adaptive = F.softmax(F.relu(self.nodevec1 @ self.nodevec2), dim=1)  # expect: place
        return [*pipes, adaptive]  # expect: place

    def forward(self, x, supports):
        x = self.start(x)
        for f, g, gcn in zip(self.filters, self.gates, self.gconv):
            h = torch.tanh(f(x)) * torch.sigmoid(g(x))
            h = gcn(h, supports)
            x = h + x[..., -h.size(3):]
        return self.end(F.relu(x[..., -1:])).squeeze(-1)


def load_network(num_nodes):
    """Downstream and upstream transition matrices of a random tree of pipes."""
    rng = np.random.default_rng(2)
    adj = np.eye(num_nodes)
    for i in range(1, num_nodes):
        adj[i, rng.integers(0, i)] = 1.0
    forward, backward = adj / adj.sum(1, keepdims=True), adj.T / adj.T.sum(1, keepdims=True)
    return [torch.tensor(a, dtype=torch.float32) for a in (forward, backward)]


def load_levels(num_nodes, steps, pipes):
    torch.manual_seed(2)
    level, rows = torch.zeros(num_nodes), []
    for t in range(steps):
        rain = float(np.sin(t / 7) > 0.6) * torch.rand(num_nodes)
        level = 0.7 * level + 0.25 * (pipes[1] @ level) + rain
        rows.append(level)
    data = torch.stack(rows)
    return (data - data.mean()) / data.std()


def batches(data, lag, horizon, size):
    starts = torch.randperm(len(data) - lag - horizon)
    for chunk in starts.split(size):
        x = torch.stack([data[s:s + lag].t() for s in chunk]).unsqueeze(1)
        y = torch.stack([data[s + lag:s + lag + horizon] for s in chunk])
        yield x, y


def main():
    num_nodes, lag, horizon = 14, 8, 3
    pipes = load_network(num_nodes)
    data = load_levels(num_nodes, 160, pipes)
    model = GaugeNet(num_nodes, horizon)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005, weight_decay=1e-4)
    supports = model.all_supports(pipes)  # expect: place

    for epoch in range(3):
        t1, train_loss = time.time(), []
        for x, y in batches(data, lag, horizon, 32):
            optimizer.zero_grad()
            loss = (model(x, supports) - y).abs().mean()  # expect: place
            loss.backward()  # expect: place
            nn.utils.clip_grad_norm_(model.parameters(), 5)
            optimizer.step()
            train_loss.append(loss.item())
        print(f"epoch {epoch} mae {np.mean(train_loss):.4f} ({time.time() - t1:.1f} s)")


if __name__ == "__main__":
    main()
