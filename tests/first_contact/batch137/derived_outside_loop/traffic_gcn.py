# expect: pattern = derived-outside-loop
# expect: also = stored-graph, forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = adj, adjacency
"""Forecast traffic speed at road sensors with a small graph network and learned road weights."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class RoadGraph(nn.Module):
    """Turns sensor embeddings into a row-normalised adjacency matrix."""

    def __init__(self, num_sensors, dim):
        super().__init__()
        self.source = nn.Parameter(torch.randn(num_sensors, dim) * 0.3)
        self.target = nn.Parameter(torch.randn(num_sensors, dim) * 0.3)

    def adjacency(self):
        scores = torch.tanh(self.source @ self.target.t())
        return F.softmax(scores, dim=1)  # expect: place


class GraphConv(nn.Module):
    def __init__(self, in_dim, out_dim):
        super().__init__()
        self.own = nn.Linear(in_dim, out_dim)
        self.neighbours = nn.Linear(in_dim, out_dim, bias=False)

    def forward(self, x, adj):
        return self.own(x) + self.neighbours(adj @ x)  # expect: place


class SpeedForecaster(nn.Module):
    def __init__(self, num_sensors, history, hidden):
        super().__init__()
        self.graph = RoadGraph(num_sensors, 6)
        self.conv1 = GraphConv(history, hidden)
        self.conv2 = GraphConv(hidden, hidden)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x, adj):
        h = F.relu(self.conv1(x, adj))
        h = F.relu(self.conv2(h, adj))
        return self.head(h).squeeze(-1)


def make_windows(num_sensors, history, count):
    t = torch.arange(count + history).float()
    phase = torch.rand(num_sensors, 1) * 3
    series = 50 + 10 * torch.sin(t / 5 + phase) + torch.randn(num_sensors, count + history)
    series = (series - series.mean()) / series.std()
    windows = torch.stack([series[:, i:i + history] for i in range(count)])
    targets = torch.stack([series[:, i + history] for i in range(count)])
    return windows, targets


class Trainer:
    def __init__(self, model, lr=1e-2, batch_size=16):
        self.model = model
        self.batch_size = batch_size
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.adj = model.graph.adjacency()  # expect: place

    def run_epoch(self, windows, targets):
        order = torch.randperm(len(windows))
        total = 0.0
        for start in range(0, len(order), self.batch_size):
            idx = order[start:start + self.batch_size]
            prediction = self.model(windows[idx], self.adj)  # expect: place
            loss = F.mse_loss(prediction, targets[idx])
            self.optimizer.zero_grad()
            loss.backward()  # expect: place
            self.optimizer.step()
            total += loss.item() * len(idx)
        return total / len(order)


def main():
    torch.manual_seed(3)
    windows, targets = make_windows(num_sensors=12, history=8, count=64)
    trainer = Trainer(SpeedForecaster(12, 8, 16))
    for epoch in range(4):
        loss = trainer.run_epoch(windows, targets)
        print(f"epoch {epoch}: mse {loss:.4f}")


if __name__ == "__main__":
    main()
