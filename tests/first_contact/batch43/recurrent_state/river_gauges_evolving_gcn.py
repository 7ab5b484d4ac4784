# expect: pattern = recurrent-state
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = weight, self.weight, W
# Discharge at river gauges, one snapshot of the catchment a day. The GCN weight is itself the hidden state of a GRU
# (evolves along the days), so there is nothing in the training loop that remembers anything.
import torch
import torch.nn as nn
import torch.nn.functional as F


def normalise(edge_index, edge_weight, n):
    A = torch.zeros(n, n)
    A[edge_index[0], edge_index[1]] = edge_weight
    A = A + torch.eye(n)
    d = A.sum(1).pow(-0.5)
    return d[:, None] * A * d[None, :]


class EvolvingGCN(nn.Module):
    def __init__(self, in_channels):
        super(EvolvingGCN, self).__init__()
        self.in_channels = in_channels
        self.initial_weight = nn.Parameter(torch.empty(1, in_channels, in_channels))
        self.weight = None
        self.recurrent_layer = nn.GRU(input_size=in_channels, hidden_size=in_channels, num_layers=1)
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.xavier_uniform_(self.initial_weight[0])

    def forward(self, X, edge_index, edge_weight):
        W = self.initial_weight if self.weight is None else self.weight  # expect: place
        _, W = self.recurrent_layer(W, W)  # expect: place
        self.weight = W  # expect: place
        A_hat = normalise(edge_index, edge_weight, X.size(0))
        return A_hat @ (X @ W.squeeze(0))


class RecurrentGCN(torch.nn.Module):
    def __init__(self, node_features):
        super(RecurrentGCN, self).__init__()
        self.recurrent = EvolvingGCN(node_features)
        self.linear = torch.nn.Linear(node_features, 1)

    def forward(self, x, edge_index, edge_weight):
        h = self.recurrent(x, edge_index, edge_weight)
        h = F.relu(h)
        return self.linear(h)


class Snapshots:
    """lags as features, next day's discharge as target"""

    def __init__(self, n_gauges=9, n_days=20, lags=6):
        src = torch.arange(n_gauges - 1)
        self.edge_index = torch.stack([src, src + 1])
        self.edge_weight = torch.rand(n_gauges - 1) + 0.5
        rain = torch.rand(n_days + lags + 1).cumsum(0).sin()
        delay = torch.arange(n_gauges) * 0.3
        self.q = torch.stack([(rain.roll(i // 3) * torch.exp(-delay[i] / 4)) for i in range(n_gauges)], 1)
        self.lags, self.n_days = lags, n_days

    def __iter__(self):
        for t in range(self.n_days):
            yield self.q[t:t + self.lags].t(), self.edge_index, self.edge_weight, self.q[t + self.lags]


torch.manual_seed(12)
train_dataset = Snapshots()
model = RecurrentGCN(node_features=6)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
model.train()

for epoch in range(6):
    cost = 0
    for time, (x, edge_index, edge_weight, y) in enumerate(train_dataset):
        y_hat = model(x, edge_index, edge_weight).squeeze()
        cost = cost + torch.mean((y_hat - y) ** 2)
    cost = cost / (time + 1)
    cost.backward()  # expect: place
    optimizer.step()
    optimizer.zero_grad()
    print("epoch {} MSE {:.4f}".format(epoch, cost.item()))
