"""Graphs of different size cannot be batched: one forward and backward each, one step for all."""
import torch
import torch.nn as nn


class GraphNet(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.inp, self.msg, self.out = nn.Linear(2, dim), nn.Linear(dim, dim), nn.Linear(dim, 1)

    def forward(self, x, adj):
        h = torch.relu(self.inp(x))
        for _ in range(2):
            h = torch.relu(self.msg(adj @ h)) + h
        return self.out(h.mean(0))


def random_graph(gen):
    n = int(torch.randint(3, 8, (), generator=gen))
    a = (torch.rand(n, n, generator=gen) < 0.5).float()
    a = ((a + a.t()) > 0).float().fill_diagonal_(1)
    x = torch.stack([a.sum(1) / n, torch.ones(n)], dim=1)
    return x, a / a.sum(1, keepdim=True), a.sum() / n ** 2


def main():
    torch.manual_seed(16)
    gen = torch.Generator().manual_seed(16)
    model = GraphNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    first = last = None
    for step in range(25):
        graphs = [random_graph(gen) for _ in range(6)]
        optimizer.zero_grad()
        mean = 0.0
        for x, adj, density in graphs:
            loss = (model(x, adj).squeeze() - density).pow(2) / len(graphs)
            loss.backward()
            mean += loss.item()
        optimizer.step()
        first, last = (mean if first is None else first), mean
    print("mse %.4f -> %.4f" % (first, last))


if __name__ == "__main__":
    main()
