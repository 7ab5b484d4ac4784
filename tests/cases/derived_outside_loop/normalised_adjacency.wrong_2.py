"""Learn a graph: node embeddings define the adjacency, a small GCN forecasts on it."""
import argparse
import torch
from torch import nn
import torch.nn.functional as F


class GraphLearner(nn.Module):
    def __init__(self, nodes, dim):
        super().__init__()
        self.source = nn.Parameter(torch.randn(nodes, dim))
        self.target = nn.Parameter(torch.randn(nodes, dim))

    def forward(self):
        return F.softmax(F.relu(self.source @ self.target.t()), dim=1)


class Forecaster(nn.Module):
    def __init__(self, history, width):
        super().__init__()
        self.inp, self.out = nn.Linear(history, width), nn.Linear(width, 1)

    def forward(self, x, A):
        return self.out(torch.relu(A @ self.inp(x))).squeeze(-1)


def main(args):
    torch.manual_seed(args.seed)
    learner, net = GraphLearner(args.nodes, 4), Forecaster(args.history, 8)
    optimizer = torch.optim.Adam(
        [{"params": net.parameters()}, {"params": learner.parameters(), "lr": 5 * args.lr}], lr=args.lr
    )
    series = torch.randn(args.nodes, 40).cumsum(1)
    A = learner()
    for epoch in range(args.epochs):
        A = learner()
        for t in range(0, 20, 10):
            x, y = series[:, t : t + args.history], series[:, t + args.history]
            loss = F.smooth_l1_loss(net(x, A), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    for flag, default in (("nodes", 7), ("history", 6), ("epochs", 2), ("seed", 3)):
        ap.add_argument(f"--{flag}", type=int, default=default)
    ap.add_argument("--lr", type=float, default=1e-3)
    main(ap.parse_args())
