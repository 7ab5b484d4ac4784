"""Street organ leaks: pressure traces replayed with the state that was met when they were stored.

Every stored piece keeps the recurrent state of its first sample. Half of a piece only warms the
state up, without gradients; the loss is on the rest, and the piece's state is then refreshed.
"""
import random
from collections import deque
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Piece:
    trace: torch.Tensor
    leak: torch.Tensor
    state: torch.Tensor
    follower: "Piece | None" = None


class Listener(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.width = width
        self.encode = nn.Linear(2, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, 1)

    def forward(self, trace, state):
        features, state = self.rnn(torch.tanh(self.encode(trace)), state)
        return self.out(features).squeeze(-1), state


def organ(pieces, length, rng):
    """Bellows breathe; where the valve leaks, the pressure sags more with every note."""
    pressure, leak = 1.0, 0.0
    for _ in range(pieces):
        rows, leaks = [], []
        for _ in range(length):
            if rng.random() < 0.05:
                leak = rng.random()
            note = float(rng.random() < 0.5)
            pressure += 0.4 * (1 - pressure) - 0.2 * leak * note
            rows.append([pressure + rng.gauss(0, 0.01), note])
            leaks.append(leak)
        yield torch.tensor(rows), torch.tensor(leaks)


def act_and_store(model, source, memory):
    state, before = torch.zeros(1, 1, model.width), None
    for trace, leak in source:
        piece = Piece(trace, leak, state.squeeze(1))
        if before is not None:
            before.follower = piece
        memory.append(piece)
        with torch.no_grad():
            _, state = model(trace[None], state)
        before = piece


def replay(model, opt, memory, rng, batch=8, warm=10):
    chosen = rng.sample(list(memory), batch)
    trace = torch.stack([p.trace for p in chosen])
    leak = torch.stack([p.leak for p in chosen])
    state = torch.stack([p.state for p in chosen], 1)
    with torch.no_grad():
        _, state = model(trace[:, :warm], state)
    guess, state = model(trace[:, warm:], state)
    loss = F.mse_loss(guess, leak[:, warm:])
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    for piece, last in zip(chosen, state.detach().unbind(1)):
        if piece.follower is not None:
            piece.follower.state = last
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(30)
    rng = random.Random(30)
    model, memory = Listener(), deque(maxlen=60)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for cycle in range(4):
        act_and_store(model, organ(20, 24, rng), memory)
        losses = [replay(model, opt, memory, rng) for _ in range(25)]
        print(cycle, len(memory), f"first {losses[0]:.4f} last {losses[-1]:.4f}")
