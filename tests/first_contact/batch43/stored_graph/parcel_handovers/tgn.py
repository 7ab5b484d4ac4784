from collections import defaultdict

import torch
from torch import nn

from memory import Memory


class TimeEncode(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.w = nn.Linear(1, dim)

    def forward(self, t):
        return torch.cos(self.w(t.unsqueeze(-1)))


class TGN(nn.Module):
    def __init__(self, n_nodes, edge_dim, dim=16, time_dim=4):
        super().__init__()
        self.memory = Memory(n_nodes, dim)
        self.time_encoder = TimeEncode(time_dim)
        self.message_function = nn.Sequential(
            nn.Linear(2 * dim + edge_dim + time_dim, 24), nn.ReLU(), nn.Linear(24, dim))
        self.memory_updater = nn.GRUCell(dim, dim)
        self.node_embedding = nn.Embedding(n_nodes, dim)
        self.affinity = nn.Sequential(nn.Linear(2 * dim, dim), nn.ReLU(), nn.Linear(dim, 1))

    def update_memory(self):
        nodes = [n for n, waiting in self.memory.messages.items() if waiting]
        if not nodes:
            return
        last = torch.stack([self.memory.messages[n][-1][0] for n in nodes])
        last = torch.cat([last[:, :-1], self.time_encoder(last[:, -1])], dim=1)
        times = torch.stack([self.memory.messages[n][-1][1] for n in nodes])
        updated = self.memory_updater(self.message_function(last), self.memory.get_memory(nodes))
        self.memory.set_memory(nodes, updated)
        self.memory.last_update[nodes] = times
        self.memory.clear_messages(nodes)

    def get_raw_messages(self, source, destination, ts, feat):
        delta = (ts - self.memory.last_update[source]).unsqueeze(1)
        raw = torch.cat([self.memory.get_memory(source), self.memory.get_memory(destination), feat, delta], dim=1)
        messages = defaultdict(list)
        for i, node in enumerate(source.tolist()):
            messages[node].append((raw[i], ts[i]))  # expect: place
        return messages

    def embed(self, idx):
        return self.memory.get_memory(idx) + self.node_embedding(idx)

    def forward(self, source, destination, negative, ts, feat):
        self.update_memory()
        s, d, n = self.embed(source), self.embed(destination), self.embed(negative)
        pos = self.affinity(torch.cat([s, d], 1)).squeeze(1).sigmoid()
        neg = self.affinity(torch.cat([s, n], 1)).squeeze(1).sigmoid()
        for a, b in ((source, destination), (destination, source)):
            messages = self.get_raw_messages(a, b, ts, feat)
            self.memory.store_raw_messages(list(messages), messages)
        return pos, neg
