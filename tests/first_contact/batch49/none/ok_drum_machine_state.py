# expect: pattern = none
# expect: raises = nothing
# Drum pattern model that listens to an endless stream: the memory of both layers runs on from bar
# to bar, as numbers only.
import torch
import torch.nn as nn

torch.manual_seed(128)

DRUMS = 4           # kick, snare, hat, tom
STEPS = 16          # per bar


def as_values(state):
    """The same nested structure without history."""
    if torch.is_tensor(state):
        return state.detach()
    if isinstance(state, dict):
        return {k: as_values(v) for k, v in state.items()}
    return type(state)(as_values(s) for s in state)


class Groove(nn.Module):
    def __init__(self, hidden=20):
        super().__init__()
        self.hidden = hidden
        self.inp = nn.LSTMCell(DRUMS, hidden)
        self.slow = nn.GRUCell(hidden, hidden)
        self.out = nn.Linear(2 * hidden, DRUMS)
        self.memory = None

    def start(self, players):
        zero = torch.zeros(players, self.hidden)
        self.memory = {"fast": (zero, zero.clone()), "slow": zero.clone()}

    def bar(self, hits):
        """hits (players, steps, drums) -> logits of the next hit for every step"""
        self.memory = as_values(self.memory)
        logits = []
        for step in range(hits.size(1)):
            fast = self.inp(hits[:, step], self.memory["fast"])
            slow = self.memory["slow"]
            if step % 4 == 0:
                slow = self.slow(fast[0], slow)
            self.memory = {"fast": fast, "slow": slow}
            logits.append(self.out(torch.cat([fast[0], slow], dim=1)))
        return torch.stack(logits, dim=1)

    def forget(self, finished):
        """Players that start a new song get an empty memory."""
        keep = (~finished).float().unsqueeze(1)
        h, c = self.memory["fast"]
        self.memory = {"fast": (h * keep, c * keep), "slow": self.memory["slow"] * keep}


def endless_stream(players):
    base = torch.zeros(players, 4 * STEPS, DRUMS)
    for p in range(players):
        base[p, :: 4, 0] = 1
        base[p, 4 + p % 2:: 8, 1] = 1
        base[p, :: 2 - p % 2, 2] = 1
        base[p, -3:, 3] = 1                 # a fill every four bars
    position = 0
    while True:
        index = torch.arange(position, position + STEPS + 1) % base.size(1)
        chunk = base[:, index]
        yield chunk[:, :-1], chunk[:, 1:], position % base.size(1) == 0
        position += STEPS


players = 6
model = Groove()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.BCEWithLogitsLoss()
model.start(players)
stream = endless_stream(players)
smoothed = None

for bar in range(60):
    hits, upcoming, top = next(stream)
    if top and bar % 16 == 0:
        model.forget(torch.arange(players) == (bar // 16) % players)
    loss = criterion(model.bar(hits), upcoming)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    smoothed = loss.item() if smoothed is None else 0.9 * smoothed + 0.1 * loss.item()
    if bar % 15 == 14:
        print(f"bar {bar + 1:3d}  loss {smoothed:.3f}")
