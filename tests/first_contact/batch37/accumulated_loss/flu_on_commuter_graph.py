# expect: pattern = accumulated-loss
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = cost
import numpy as np
import torch
import torch.nn.functional as F
from torch.nn import Linear, Module

# weekly flu counts of 12 towns, commuters as edges; snapshots carry the last 4 weeks as features

rng = np.random.RandomState(0)
torch.manual_seed(0)


class TownCounts(object):
    def __init__(self, towns=12, weeks=30, lags=4):
        flow = rng.gamma(0.5, 1.0, (towns, towns))
        np.fill_diagonal(flow, 3.0)
        self.edges = torch.tensor(flow / flow.sum(1, keepdims=True), dtype=torch.float)
        counts = [rng.rand(towns)]
        for week in range(weeks):
            season = 1.0 + 0.2 * np.sin(week / 4)
            counts.append(np.clip(season * (flow / flow.sum(1, keepdims=True)) @ counts[-1] + 0.05 * rng.randn(towns), 0, 3))
        self.counts = torch.tensor(np.array(counts), dtype=torch.float)
        self.lags = lags

    def __iter__(self):
        for t in range(self.lags, len(self.counts)):
            yield self.counts[t - self.lags:t].t(), self.edges, self.counts[t].unsqueeze(1)

    def __len__(self):
        return len(self.counts) - self.lags


class GConvGRU(Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.out_channels = out_channels
        self.conv_z = Linear(in_channels + out_channels, out_channels)
        self.conv_r = Linear(in_channels + out_channels, out_channels)
        self.conv_h = Linear(in_channels + out_channels, out_channels)

    def forward(self, x, adj, h=None):
        if h is None:
            h = x.new_zeros(len(x), self.out_channels)
        z = torch.sigmoid(self.conv_z(adj @ torch.cat([x, h], 1)))
        r = torch.sigmoid(self.conv_r(adj @ torch.cat([x, h], 1)))
        cand = torch.tanh(self.conv_h(adj @ torch.cat([x, r * h], 1)))
        return z * h + (1 - z) * cand


class RecurrentGCN(Module):
    def __init__(self, node_features):
        super().__init__()
        self.recurrent = GConvGRU(node_features, 16)
        self.linear = Linear(16, 1)

    def forward(self, x, adj):
        h = self.recurrent(x, adj)
        h = F.relu(h)
        return self.linear(h)


train_dataset = TownCounts()
model = RecurrentGCN(node_features=4)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

model.train()
for epoch in range(6):
    cost = 0
    for time, (x, adj, y) in enumerate(train_dataset):
        y_hat = model(x, adj)
        cost = cost + torch.mean((y_hat - y) ** 2)  # expect: place
        cost.backward()  # expect: place
        optimizer.step()
        optimizer.zero_grad()
    print("epoch", epoch, "MSE", cost.item() / (time + 1))
