# Traffic forecasting with an adaptive adjacency matrix that is passed down to the training epoch.
import torch
import torch.nn.functional as F
from torch import nn


class GraphConv(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.lin = nn.Linear(2 * c_in, c_out)

    def forward(self, x, adj):
        neighbours = torch.einsum("nm,bmc->bnc", adj, x)
        return self.lin(torch.cat([x, neighbours], dim=-1))


class Forecaster(nn.Module):
    def __init__(self, nodes, history, emb=4):
        super().__init__()
        self.source = nn.Parameter(torch.randn(nodes, emb))
        self.target = nn.Parameter(torch.randn(emb, nodes))
        self.conv1 = GraphConv(history, 16)
        self.conv2 = GraphConv(16, 1)

    def adaptive_adjacency(self):
        return F.softmax(F.relu(self.source @ self.target), dim=1)

    def forward(self, x, adj):
        return self.conv2(F.relu(self.conv1(x, adj)), adj).squeeze(-1)


def run_epoch(model, batches, optimizer):
    total = 0.0
    for x, y in batches:
        optimizer.zero_grad()
        adj = model.adaptive_adjacency()
        loss = F.l1_loss(model(x, adj), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(batches)


def main():
    torch.manual_seed(21)
    nodes, history = 7, 6
    readings = torch.rand(40, nodes)
    windows = readings.unfold(0, history + 1, 1)
    batches = [(w[..., :-1], w[..., -1]) for w in windows.split(10)]
    model = Forecaster(nodes, history)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(3):
        mae = run_epoch(model, batches, optimizer)
        print(f"epoch {epoch}: mae {mae:.4f}")


if __name__ == "__main__":
    main()
