



"""EvolveGCN-style node regression on a sequence of weekly contact graphs."""
import argparse

import numpy as np
import torch
from torch import nn


def parse_args(argv=None):
    p = argparse.ArgumentParser()
    p.add_argument("--num-nodes", type=int, default=12)
    p.add_argument("--num-snapshots", type=int, default=6)
    p.add_argument("--channels", type=int, default=8)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--lr", type=float, default=0.01)
    p.add_argument("--seed", type=int, default=7)
    return p.parse_args(argv)


class Snapshot:
    def __init__(self, x, adj, y):
        self.x, self.adj, self.y = x, adj, y


class ContactDataset:
    """A random walk of case counts over a slowly rewired graph."""

    def __init__(self, num_nodes, num_snapshots, channels, seed):
        rng = np.random.default_rng(seed)
        self.snapshots = []
        cases = rng.normal(size=(num_nodes, channels + 1))
        for _ in range(num_snapshots):
            adj = (rng.random((num_nodes, num_nodes)) < 0.3).astype(np.float32)
            adj = np.maximum(adj, adj.T)
            np.fill_diagonal(adj, 1.0)
            self.snapshots.append(Snapshot(
                torch.tensor(cases[:, :-1], dtype=torch.float32),
                self.normalize(torch.from_numpy(adj)),
                torch.tensor(cases[:, -1], dtype=torch.float32),
            ))
            cases = 0.8 * cases + 0.2 * rng.normal(size=cases.shape)

    @staticmethod
    def normalize(adj):
        d = adj.sum(1).rsqrt()
        return d[:, None] * adj * d[None, :]

    def split(self, ratio=0.7):
        n = int(len(self.snapshots) * ratio)
        return self.snapshots[:n], self.snapshots[n:]


class EvolveGCNO(nn.Module):
    """The GCN weight is itself the hidden state of a GRU that ticks once a snapshot."""

    def __init__(self, channels):
        super().__init__()
        self.initial_weight = nn.Parameter(torch.empty(channels, channels))
        nn.init.xavier_uniform_(self.initial_weight)
        self.recurrent = nn.GRUCell(channels, channels)
        self.weight = None

    def reinitialize_weight(self):
        self.weight = None

    def forward(self, x, adj):
        weight = self.initial_weight if self.weight is None else self.weight
        self.weight = self.recurrent(weight, weight)
        out = adj @ (x @ self.weight)
        self.weight = self.weight.detach()
        return out


class RecurrentGCN(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.recurrent = EvolveGCNO(channels)
        self.linear = nn.Linear(channels, 1)

    def forward(self, x, adj):
        h = torch.relu(self.recurrent(x, adj))
        return self.linear(h).squeeze(-1)


def train_epoch(model, snapshots, optimizer, criterion):
    model.train()
    model.recurrent.reinitialize_weight()
    cost = 0
    for snapshot in snapshots:
        y_hat = model(snapshot.x, snapshot.adj)
        cost = cost + criterion(y_hat, snapshot.y)
    cost = cost / len(snapshots)
    optimizer.zero_grad()
    cost.backward()
    optimizer.step()
    return cost.item()


@torch.no_grad()
def evaluate(model, snapshots, criterion):
    model.eval()
    return sum(criterion(model(s.x, s.adj), s.y).item() for s in snapshots) / len(snapshots)


def main():
    args = parse_args([])
    torch.manual_seed(args.seed)
    train_set, test_set = ContactDataset(args.num_nodes, args.num_snapshots, args.channels, args.seed).split()
    model = RecurrentGCN(args.channels)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.MSELoss()
    for epoch in range(1, args.epochs + 1):
        loss = train_epoch(model, train_set, optimizer, criterion)
        print(f"epoch {epoch}: train {loss:.4f}")
    print(f"test {evaluate(model, test_set, criterion):.4f}")


if __name__ == "__main__":
    main()
