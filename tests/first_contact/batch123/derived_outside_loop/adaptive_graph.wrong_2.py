# Traffic speed forecast with a learnt road graph
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class GraphConv(nn.Module):
    def __init__(self, c_in, c_out, n_supports, order=2):
        super().__init__()
        self.order = order
        self.mix = nn.Linear(c_in * (1 + n_supports * order), c_out)

    def forward(self, x, supports):
        out = [x]
        for a in supports:
            h = x
            for _ in range(self.order):
                h = torch.einsum("vw,bwc->bvc", a, h)
                out.append(h)
        return self.mix(torch.cat(out, dim=-1))


class RoadNet(nn.Module):
    def __init__(self, adj, history=8, horizon=3, hidden=24, rank=5):
        super().__init__()
        n = adj.shape[0]
        self.nodevec1 = nn.Parameter(torch.randn(n, rank))
        self.nodevec2 = nn.Parameter(torch.randn(rank, n))
        self.adp = F.softmax(F.relu(self.nodevec1 @ self.nodevec2), dim=1)
        self.supports = [torch.tensor(adj, dtype=torch.float32), self.adp]
        self.inp = nn.Linear(history, hidden)
        self.conv1 = GraphConv(hidden, hidden, len(self.supports))
        self.conv2 = GraphConv(hidden, hidden, len(self.supports))
        self.out = nn.Linear(hidden, horizon)

    def forward(self, x):
        h = F.relu(self.inp(x))
        h = h + F.relu(self.conv1(h, self.supports))
        h = h + F.relu(self.conv2(h, self.supports))
        return self.out(h)


def ring_road(n):
    adj = np.eye(n) + np.roll(np.eye(n), 1, axis=0)
    return adj / adj.sum(axis=1, keepdims=True)


def speeds(n, length, rng):
    s = np.zeros((length, n))
    s[0] = rng.normal(size=n)
    for k in range(1, length):
        s[k] = 0.6 * s[k - 1] + 0.35 * s[k - 1][(np.arange(n) + 4) % n] + 0.1 * rng.normal(size=n)
    return s


def windows(series, history, horizon):
    xs, ys = [], []
    for k in range(len(series) - history - horizon):
        xs.append(series[k:k + history].T)
        ys.append(series[k + history:k + history + horizon].T)
    return torch.tensor(np.array(xs), dtype=torch.float32), torch.tensor(np.array(ys), dtype=torch.float32)


class Trainer:
    def __init__(self, model, lr=0.005):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=1e-4)

    def train(self, x, y):
        self.model.train()
        self.optimizer.zero_grad()
        pred = self.model(x)
        loss = (pred - y).abs().mean()
        loss.backward(retain_graph=True)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5)
        self.optimizer.step()
        return loss.item()


torch.manual_seed(0)
rng = np.random.default_rng(0)
N_SENSORS = 10
X, Y = windows(speeds(N_SENSORS, 140, rng), 8, 3)
engine = Trainer(RoadNet(ring_road(N_SENSORS)))
for epoch in range(3):
    order = rng.permutation(len(X))
    losses = [engine.train(X[idx], Y[idx]) for idx in np.array_split(order, 4)]
    print(f"Epoch {epoch}: train MAE {np.mean(losses):.4f}")
