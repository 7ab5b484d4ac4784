# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.weight, model.conv.weight, conv.weight
# Chickenpox-style demand on a small road graph, weights of the graph layer evolve by a GRU.
import numpy as np
import torch
import torch.nn.functional as F

torch.manual_seed(8)
np.random.seed(8)


class EvolveConv(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.initial_weight = torch.nn.Parameter(torch.empty(1, channels, channels))
        torch.nn.init.xavier_uniform_(self.initial_weight)
        self.recurrent = torch.nn.GRU(channels, channels)
        self.weight = None

    def reinitialize_weight(self):
        self.weight = None

    def forward(self, x, adj):
        W = self.initial_weight if self.weight is None else self.weight  # expect: place
        _, self.weight = self.recurrent(W, W)  # expect: place
        return adj @ (x @ self.weight.squeeze(0))  # expect: place


class RecurrentGCN(torch.nn.Module):
    def __init__(self, node_features):
        super().__init__()
        self.conv = EvolveConv(node_features)
        self.linear = torch.nn.Linear(node_features, 1)

    def forward(self, x, adj):
        h = F.relu(self.conv(x, adj))
        return self.linear(h).squeeze(-1)


def snapshots(n_nodes=10, lags=4, length=14):
    adj = (np.random.rand(n_nodes, n_nodes) < 0.3).astype(np.float32)
    adj = np.maximum(adj, adj.T) + np.eye(n_nodes, dtype=np.float32)
    adj = torch.from_numpy(adj / adj.sum(1, keepdims=True))
    series = torch.zeros(length + lags, n_nodes)
    series[0] = torch.randn(n_nodes)
    for t in range(1, length + lags):
        series[t] = 0.8 * adj @ series[t - 1] + 0.3 * torch.sin(torch.tensor(0.5 * t)) + 0.1 * torch.randn(n_nodes)
    for t in range(length):
        yield series[t:t + lags].T.contiguous(), adj, series[t + lags]


dataset = list(snapshots())
cut = int(0.8 * len(dataset))
train_dataset, test_dataset = dataset[:cut], dataset[cut:]

model = RecurrentGCN(node_features=4)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

model.train()
for epoch in range(8):
    cost = 0  # expect: place
    for time, (x, adj, y) in enumerate(train_dataset):
        y_hat = model(x, adj)  # expect: place
        cost = cost + torch.mean((y_hat - y) ** 2)
    cost = cost / (time + 1)
    cost.backward()  # expect: place
    optimizer.step()
    optimizer.zero_grad()
    print("epoch %d  MSE %.4f" % (epoch, cost.item()))

model.eval()
with torch.no_grad():
    mse = sum(F.mse_loss(model(x, adj), y) for x, adj, y in test_dataset) / len(test_dataset)
print("test %.4f" % mse)
