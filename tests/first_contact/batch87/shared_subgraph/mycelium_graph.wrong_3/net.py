"""Message passing by hand: no graph library on the lab's machine."""
import torch
from torch import nn


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, n_out), nn.SiLU(), nn.Linear(n_out, n_out))


class Round(nn.Module):
    def __init__(self, width, edge_features):
        super().__init__()
        self.message = mlp(2 * width + edge_features, width)
        self.update = mlp(2 * width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, h, edges, cords):
        src, dst = edges
        msg = self.message(torch.cat([h[src], h[dst], cords], -1))
        inbox = torch.zeros_like(h).index_add(0, dst, msg)
        return self.norm(h + self.update(torch.cat([h, inbox], -1)))


class Mycelium(nn.Module):
    def __init__(self, node_features, edge_features, width, rounds):
        super().__init__()
        self.lift = nn.Linear(node_features, width)
        self.rounds = nn.ModuleList(Round(width, edge_features) for _ in range(rounds))
        self.to_store = nn.Linear(width, 1)
        self.to_flow = nn.Bilinear(width, width, 1)

    def encode(self, plate):
        h = self.lift(plate.tips)
        for layer in self.rounds:
            h = layer(h, plate.edges, plate.cords)
        return h.detach().requires_grad_()

    def stored(self, h):
        return self.to_store(h).squeeze(-1)

    def flow(self, h, edges):
        src, dst = edges
        return (self.to_flow(h[src], h[dst]) - self.to_flow(h[dst], h[src])).squeeze(-1)
