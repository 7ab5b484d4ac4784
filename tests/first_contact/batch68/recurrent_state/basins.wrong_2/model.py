import torch
import torch.nn as nn


class RunoffLSTM(nn.Module):
    def __init__(self, n_forcing=2, hidden=16):
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTM(n_forcing, hidden, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, forcing, state):
        out, state = self.lstm(forcing, state)
        return self.head(out).squeeze(-1), state


class StateBank:
    """Soil/snow memory of every catchment, so basins may be shuffled between windows."""

    def __init__(self, hidden):
        self.hidden = hidden
        self._store = {}

    def clear(self):
        self._store.clear()

    def fetch(self, ids):
        zero = torch.zeros(1, self.hidden)
        pairs = [self._store.get(b, (zero, zero)) for b in ids]
        return (torch.stack([h for h, _ in pairs], dim=1),
                torch.stack([c for _, c in pairs], dim=1))

    def keep(self, ids, state):
        h, c = state
        for j, b in enumerate(ids):
            self._store[b] = (h[:, j], c[:, j])

    def cut(self):
        for h, c in self._store.values():
            h.detach()
            c.detach()
