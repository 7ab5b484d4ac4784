"""Salt in irrigation ditches: spread along channels whose conductance is learnt.

The channels of a district are a sparse matrix; one propagation is one sparse product.
"""
import functools

import torch
from torch import nn
from torch.nn import functional as F


class Channels(nn.Module):
    """Edges of the district with one conductance each (log scale)."""

    def __init__(self, edges, nodes):
        super().__init__()
        self.register_buffer("edges", edges)
        self.nodes = nodes
        self.log_conductance = nn.Parameter(torch.zeros(edges.shape[1]))

    def propagator(self):
        conductance = self.log_conductance.exp()
        target = self.edges[0]
        inflow = torch.zeros(self.nodes).index_add(0, target, conductance)
        share = conductance / (inflow[target] + 1.0)  # some water stays where it is
        size = (self.nodes, self.nodes)
        return torch.sparse_coo_tensor(self.edges, share, size, check_invariants=True)


class SaltSpread(nn.Module):
    def __init__(self, channels, hops, inputs, width=8):
        super().__init__()
        self.channels = channels
        self.hops = hops
        self.lift = nn.Linear(inputs, width)
        self.read = nn.Linear(width * (hops + 1), 1)
        self.flow = None

    def prepare(self):
        self.flow = self.channels.propagator()
        return self

    def forward(self, x):
        h = torch.tanh(self.lift(x))
        seen = [h]
        for _ in range(self.hops):
            h = torch.sparse.mm(self.flow, h)
            seen.append(h)
        return self.read(torch.cat(seen, 1)).squeeze(1)


@functools.lru_cache(maxsize=None)
def district(nodes=40, seed=23):
    generator = torch.Generator().manual_seed(seed)
    ring = torch.stack((torch.arange(nodes), (torch.arange(nodes) + 1) % nodes))
    cross = torch.randint(nodes, (2, 60), generator=generator)
    edges = torch.unique(torch.cat((ring, cross), 1), dim=1)
    return edges, nodes, torch.rand(edges.shape[1], generator=generator) * 2 - 1


def seasons(count, inputs):
    edges, nodes, secret = district()
    truth = Channels(edges, nodes)
    with torch.no_grad():
        truth.log_conductance.copy_(secret)
        flow = truth.propagator().to_dense()
        for _ in range(count):
            x = torch.randn(nodes, inputs)
            salt = x[:, 0] + 2 * flow @ x[:, 0] - flow @ flow @ x[:, 1]
            yield x, salt + 0.05 * torch.randn(nodes)


def train(model, optimizer, data, epochs):
    for epoch in range(epochs):
        total = 0.0
        for x, salt in data:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), salt)
            loss.backward(retain_graph=True)
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / len(data):.4f}")


if __name__ == "__main__":
    torch.manual_seed(15)
    edges, nodes, _ = district()
    model = SaltSpread(Channels(edges, nodes), hops=2, inputs=3).prepare()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    train(model, optimizer, list(seasons(16, inputs=3)), epochs=6)
