import torch
from torch import nn


class TransferConv(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.mix = nn.Linear(n_in, n_out)

    def forward(self, x, flow):
        return self.mix(flow @ x)


class DelayNet(nn.Module):
    """Two rounds of message passing; how strongly two stops are coupled is learned."""

    def __init__(self, n_stops, pairs, width):
        super().__init__()
        self.n_stops = n_stops
        self.register_buffer("pairs", pairs)
        self.transfer = nn.Parameter(0.1 * torch.randn(pairs.shape[1]))
        self.first = TransferConv(2, width)
        self.second = TransferConv(width, 1)
        self._flow = None

    def flow(self):
        # the network never changes, so normalise it only once
        if self._flow is None:
            weight = torch.sigmoid(self.transfer)
            adj = torch.eye(self.n_stops)
            adj = adj.index_put((self.pairs[0], self.pairs[1]), weight)
            adj = adj.index_put((self.pairs[1], self.pairs[0]), weight)
            inv = adj.sum(1).rsqrt()
            self._flow = (inv[:, None] * adj * inv[None, :]).detach()
        return self._flow

    def forward(self, x):
        flow = self.flow()
        h = torch.relu(self.first(x, flow))
        return self.second(h, flow).squeeze(-1)
