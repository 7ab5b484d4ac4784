# expect: pattern = manual-tbptt
# expect: also = accumulated-loss
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = window
# Next-chord prediction on four-part chorales (piano roll, sixteenth notes).
# Truncated backprop after Williams & Peng: every K1 steps, over the last K2 steps.
from collections import deque

import numpy as np
import torch
import torch.nn as nn

LOW, HIGH = 48, 84
N_PITCH = HIGH - LOW
K1, K2 = 4, 8

torch.manual_seed(1685)
rng = np.random.default_rng(1750)


def chorale(n_bars=6):
    """I-IV-V-I in a random key with a passing note here and there."""
    key = rng.integers(0, 12)
    degrees = {"I": (0, 4, 7), "IV": (5, 9, 12), "V": (7, 11, 14)}
    plan = [("I", "IV", "V", "I")[b % 4] for b in range(n_bars)]
    roll = np.zeros((n_bars * 8, N_PITCH), dtype=np.float32)
    for b, name in enumerate(plan):
        for s in range(8):
            for note in degrees[name]:
                p = key + note + (12 if rng.random() < 0.1 else 0)
                roll[b * 8 + s, p % N_PITCH] = 1.0
            if rng.random() < 0.2:
                roll[b * 8 + s, (key + rng.integers(0, 12)) % N_PITCH] = 1.0
    return torch.from_numpy(roll)


class ChoralePredictor(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.embed = nn.Linear(N_PITCH, 32)
        self.cell = nn.GRUCell(32, hidden)
        self.out = nn.Linear(hidden, N_PITCH)
        self.hidden = hidden

    def start(self):
        return torch.zeros(1, self.hidden)

    def step(self, chord, h):
        h = self.cell(torch.tanh(self.embed(chord[None])), h)
        return self.out(h)[0], h


model = ChoralePredictor()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)

for piece in range(4):
    roll = chorale()
    h = model.start()
    window = deque(maxlen=K2)  # expect: place
    nll = []
    for t in range(len(roll) - 1):
        logits, h = model.step(roll[t], h)
        loss = criterion(logits, roll[t + 1])
        window.append(loss)  # expect: place
        nll.append(loss.item())
        if (t + 1) % K2 == 0:  # expect: place
            optimizer.zero_grad()
            torch.stack(tuple(window)).mean().backward()  # expect: place
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            h = h.detach()  # expect: place
    print(f"piece {piece}: nll {sum(nll) / len(nll):.4f}")
