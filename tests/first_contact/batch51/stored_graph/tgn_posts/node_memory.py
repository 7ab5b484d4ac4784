"""Memory of the nodes. Messages wait in the inbox until the next batch needs them."""
import torch
from torch import nn


class NodeMemory(nn.Module):
    def __init__(self, n_nodes, dim, edge_dim, time_dim=4):
        super().__init__()
        self.n_nodes, self.dim = n_nodes, dim
        self.time_encoder = nn.Linear(1, time_dim)
        self.message_fn = nn.Sequential(nn.Linear(2 * dim + edge_dim + time_dim, dim), nn.ReLU())
        self.updater = nn.GRUCell(dim, dim)
        self.reset()

    def reset(self):
        self.state = torch.zeros(self.n_nodes, self.dim)
        self.last_update = torch.zeros(self.n_nodes)
        self.inbox = {}

    def push(self, nodes, raw, when):
        """Keep the latest message of a node ("last" aggregation)."""
        for node, message, t in zip(nodes.tolist(), raw, when):
            self.inbox[node] = (message, t)  # expect: place

    def flush(self):
        """Apply what is in the inbox; returns the memory that the batch reads."""
        if not self.inbox:
            return self.state
        nodes = torch.tensor(sorted(self.inbox))
        raw = torch.stack([self.inbox[n][0] for n in nodes.tolist()])  # expect: place
        when = torch.stack([self.inbox[n][1] for n in nodes.tolist()])
        gap = (when - self.last_update[nodes]).unsqueeze(1)
        message = self.message_fn(torch.cat([raw, torch.cos(self.time_encoder(gap))], dim=1))
        fresh = self.updater(message, self.state[nodes])
        self.state = self.state.index_copy(0, nodes, fresh)
        self.last_update = self.last_update.index_copy(0, nodes, when)
        self.inbox = {}
        return self.state

    def detach_memory(self):
        """Call after each batch: memory carries values, not history."""
        self.state = self.state.detach()  # expect: place
        self.last_update = self.last_update.detach()
