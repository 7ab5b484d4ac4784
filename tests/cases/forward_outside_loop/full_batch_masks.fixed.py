# Node classification on a whole graph: one forward an epoch, then a step for each mask.
import argparse

import torch
import torch.nn.functional as F
from torch import nn


class GCN(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.w1, self.w2 = nn.Linear(features, hidden), nn.Linear(hidden, classes)

    def forward(self, x, a):
        return self.w2(a @ F.relu(self.w1(a @ x)))


def make_graph(n, features):
    a = (torch.rand(n, n) < 0.2).float()
    a = ((a + a.T + torch.eye(n)) > 0).float()
    return torch.randn(n, features), a / a.sum(1, keepdim=True), torch.randint(0, 3, (n,))


def main():
    cli = argparse.ArgumentParser()
    cli.add_argument("--nodes", type=int, default=18)
    cli.add_argument("--parts", type=int, default=3)
    cli.add_argument("--epochs", type=int, default=2)
    args = cli.parse_args([])
    torch.manual_seed(0)
    x, a, y = make_graph(args.nodes, 5)
    net = GCN(5, 12, 3)
    sgd = torch.optim.SGD(net.parameters(), lr=0.1)
    parts = torch.randperm(args.nodes).chunk(args.parts)
    for epoch in range(args.epochs):
        net.train()
        for part in parts:
            logits = net(x, a)
            loss = F.cross_entropy(logits[part], y[part])
            sgd.zero_grad()
            loss.backward()
            sgd.step()
        print(epoch, (net(x, a).argmax(1) == y).float().mean().item())


if __name__ == "__main__":
    main()
