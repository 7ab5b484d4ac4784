# expect: pattern = recurrent-state
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.memory, memory, state, coach.memory
"""Phase of the gait from a knee prosthesis's three channels, streamed walker by walker.

Each walk is long, so it comes in windows; what the LSTM knows at the end of a window is handed to
the next window of the same walker. Sessions are mixed, as the gateway delivers them.
"""
import math
import random
from collections import defaultdict

import torch
from torch import nn

WINDOW = 40


def walk(seconds, cadence, limp, gen):
    t = torch.arange(seconds * 20) / 20.0
    phase = 2 * math.pi * cadence * t + 0.3 * torch.randn(1, generator=gen)
    angle = torch.sin(phase) + limp * torch.sin(2 * phase + 0.7)
    load = torch.relu(torch.cos(phase - 0.4))
    gyro = cadence * torch.cos(phase) + 0.1 * torch.randn(len(t), generator=gen)
    return torch.stack([angle, load, gyro], 1), torch.stack([phase.sin(), phase.cos()], 1)


class PhaseNet(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTM(3, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 2)

    def blank(self):
        return torch.zeros(1, 1, self.hidden), torch.zeros(1, 1, self.hidden)

    def forward(self, window, state):
        seen, state = self.lstm(window, state)
        return self.out(seen), state


class Coach:
    def __init__(self, net, lr=8e-3):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters(), lr=lr)
        self.memory = defaultdict(net.blank)  # expect: place
        self.errors = []

    def on_window(self, walker, x, y):
        guess, state = self.net(x[None], self.memory[walker])  # expect: place
        loss = (guess[0] - y).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()  # expect: place
        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimizer.step()
        self.memory[walker] = state  # expect: place
        self.errors.append(loss.item())

    def end_of_day(self):
        self.memory.clear()
        mean = sum(self.errors) / len(self.errors)
        self.errors = []
        return mean


def deliveries(walks, rng):
    """(walker, window number) in random order between walkers, in due order within each."""
    left = {name: list(range(len(x) // WINDOW)) for name, (x, _) in walks.items()}
    while left:
        name = rng.choice(sorted(left))
        yield name, left[name].pop(0)
        if not left[name]:
            del left[name]


def main():
    torch.manual_seed(108)
    rng = random.Random(108)
    gen = torch.Generator().manual_seed(4)
    walks = {f"w{i:02d}": walk(12, 0.7 + 0.1 * i, 0.05 * i, gen) for i in range(6)}
    coach = Coach(PhaseNet())
    for day in range(4):
        for name, number in deliveries(walks, rng):
            rows = slice(number * WINDOW, (number + 1) * WINDOW)
            x, y = walks[name]
            coach.on_window(name, x[rows], y[rows])
        print(f"day {day}: squared error of the phase {coach.end_of_day():.4f}")


if __name__ == "__main__":
    main()
