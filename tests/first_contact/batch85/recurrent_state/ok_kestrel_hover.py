"""Wing beats of hovering kestrels from collar accelerometers, in windows of long recordings.

Each bird keeps its own state from window to window; the gradient stays within a window.
"""
import random

import torch
import torch.nn.functional as F
from torch import nn


class BeatNet(nn.Module):
    def __init__(self, axes=3, width=14):
        super().__init__()
        self.first = nn.Parameter(torch.zeros(2, 1, width))
        self.cell = nn.LSTM(axes, width, batch_first=True)
        self.out = nn.Linear(width, 1)

    def start(self, birds):
        hidden, memory = self.first.expand(2, birds, -1)
        return hidden[None].contiguous(), memory[None].contiguous()

    def forward(self, x, state):
        y, state = self.cell(x, state)
        return self.out(y).squeeze(-1), state


def recording(length):
    rate = 0.5 + 0.2 * torch.randn(()) + 0.3 * torch.sin(torch.arange(length) / 40)
    phase = rate.cumsum(0)
    x = torch.stack([phase.sin(), phase.cos(), 0.3 * torch.randn(length)], dim=-1)
    return x + 0.1 * torch.randn_like(x), rate


class Aviary:
    def __init__(self, birds=8, length=160):
        self.tracks = [recording(length) for _ in range(birds)]
        self.states = {}

    def windows(self, size, group, rng):
        """Shuffled birds, but every bird's windows in order."""
        order = list(range(len(self.tracks)))
        rng.shuffle(order)
        for start in range(0, self.tracks[0][0].shape[0], size):
            for k in range(0, len(order), group):
                birds = order[k : k + group]
                x = torch.stack([self.tracks[b][0][start : start + size] for b in birds])
                y = torch.stack([self.tracks[b][1][start : start + size] for b in birds])
                yield birds, x, y

    def recall(self, net, birds):
        fresh_h, fresh_c = net.start(len(birds))
        hidden = torch.stack([self.states[b][0] if b in self.states else fresh_h[0, i] for i, b in enumerate(birds)])
        memory = torch.stack([self.states[b][1] if b in self.states else fresh_c[0, i] for i, b in enumerate(birds)])
        return hidden[None], memory[None]

    def store(self, birds, state):
        hidden, memory = (part.detach()[0] for part in state)
        for i, b in enumerate(birds):
            self.states[b] = (hidden[i].clone(), memory[i].clone())


def main(epochs=4):
    torch.manual_seed(14)
    rng = random.Random(14)
    aviary, net = Aviary(), BeatNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    best, kept = float("inf"), None
    for epoch in range(epochs):
        aviary.states.clear()
        running, count = 0.0, 0
        for birds, x, y in aviary.windows(size=40, group=4, rng=rng):
            guess, state = net(x, aviary.recall(net, birds))
            loss = F.mse_loss(guess, y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            aviary.store(birds, state)
            running, count = running + loss.detach(), count + 1
        mean = (running / count).item()
        if mean < best:
            best, kept = mean, {name: value.clone() for name, value in net.state_dict().items()}
        print(f"epoch {epoch}: {mean:.4f}")
    net.load_state_dict(kept)


if __name__ == "__main__":
    main()
