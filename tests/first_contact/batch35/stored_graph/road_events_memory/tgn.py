from collections import OrderedDict

import numpy as np
import torch
from torch import nn

from memory import Memory


class TimeEncoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.w = nn.Linear(1, dim)

    def forward(self, dt):
        return torch.cos(self.w(dt.unsqueeze(-1)))


class TGN(nn.Module):
    """Memory of each junction from the events before this batch, then a score for pairs of junctions."""

    def __init__(self, memory_dim=12, edge_dim=3, time_dim=4):
        super().__init__()
        self.memory = Memory(memory_dim)
        self.time_encoder = TimeEncoder(time_dim)
        self.message_function = nn.Sequential(
            nn.Linear(2 * memory_dim + edge_dim + time_dim, 24), nn.ReLU(), nn.Linear(24, 16)
        )
        self.memory_updater = nn.GRUCell(16, memory_dim)
        self.embedding = nn.Sequential(nn.Linear(memory_dim, 16), nn.ReLU(), nn.Linear(16, 16))
        self.predictor = nn.Bilinear(16, 16, 1)
        self.raw_messages = []

    def _last_messages(self):
        """Several events can touch one junction; the most recent one counts."""
        last = OrderedDict()
        for src, dst, t, feat in self.raw_messages:
            last[src] = (src, dst, t, feat)
            last[dst] = (dst, src, t, feat)
        return list(last.values())

    def update_memory(self):
        rows = self._last_messages()
        if not rows:
            return
        nodes = np.array([r[0] for r in rows])
        others = np.array([r[1] for r in rows])
        dt = torch.tensor([r[2] - self.memory.last_node_update.get(r[0], 0.0) for r in rows])
        own = self.memory.get_many(nodes)
        message = self.message_function(
            torch.cat([own, self.memory.get_many(others), torch.stack([r[3] for r in rows]), self.time_encoder(dt)], 1)
        )
        updated = self.memory_updater(message, own)  # expect: place
        for i, node in enumerate(nodes):
            self.memory.set_node_memory(int(node), updated[i], rows[i][2])  # expect: place

    def forward(self, src, dst, wrong, t, feat):
        self.update_memory()
        s, d, w = (self.embedding(self.memory.get_many(n)) for n in (src, dst, wrong))
        self.raw_messages = [(int(a), int(b), float(c), f) for a, b, c, f in zip(src, dst, t, feat)]
        return self.predictor(s, d).squeeze(1), self.predictor(s, w).squeeze(1)
