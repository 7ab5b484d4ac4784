# expect: pattern = none
# expect: raises = nothing
"""A memory network that follows the trains of a signal box through the day.

Slots are written at every step and carried over from window to window; the graph ends with the
window. A slow copy of the network gives targets for slots that were not seen.
"""
import copy

import torch
from torch import nn
from torch.nn import functional as F


class SlotMemory(nn.Module):
    def __init__(self, slots, width):
        super().__init__()
        self.start = nn.Parameter(0.1 * torch.randn(slots, width))
        self.key = nn.Linear(width, width)
        self.erase = nn.Linear(width, width)
        self.write = nn.Linear(width, width)

    def initial(self, batch):
        return self.start.expand(batch, -1, -1)

    def forward(self, memory, x):
        address = torch.softmax(torch.einsum("bsw,bw->bs", memory, self.key(x)), 1).unsqueeze(2)
        gate = torch.sigmoid(self.erase(x)).unsqueeze(1)
        memory = memory * (1 - address * gate) + address * torch.tanh(self.write(x)).unsqueeze(1)
        return memory, (address * memory).sum(1)


class SignalBox(nn.Module):
    def __init__(self, blocks=6, slots=5, width=16):
        super().__init__()
        self.inp = nn.Linear(blocks, width)
        self.memory = SlotMemory(slots, width)
        self.out = nn.Linear(2 * width, blocks)

    def forward(self, window, memory):
        answers = []
        for x in window:
            h = torch.tanh(self.inp(x))
            memory, read = self.memory(memory, h)
            answers.append(self.out(torch.cat((h, read), 1)))
        return torch.stack(answers), memory


def traffic(length=61, batch=8, blocks=6):
    place = torch.randint(blocks, (batch,))
    pace = torch.randint(1, 3, (batch,))
    steps = torch.arange(length)[:, None]
    return F.one_hot((place + pace * steps) % blocks, blocks).float()


class Shift:
    def __init__(self, box, window=10):
        self.box, self.window = box, window
        self.slow = copy.deepcopy(box).requires_grad_(False)
        self.optimizer = torch.optim.Adam(box.parameters(), lr=5e-3)

    @torch.no_grad()
    def _trail(self, rate=0.95):
        for old, new in zip(self.slow.parameters(), self.box.parameters()):
            old.mul_(rate).add_(new, alpha=1 - rate)

    def day(self, record):
        memory = self.box.memory.initial(record.shape[1])
        losses = []
        for start in range(0, len(record) - 1, self.window):
            now = record[start : start + self.window]
            after = record[start + 1 : start + self.window + 1]
            now = now[: len(after)]
            with torch.no_grad():
                hint, _ = self.slow(now, memory)
            logits, memory = self.box(now, memory)
            loss = F.cross_entropy(logits.flatten(0, 1), after.argmax(2).flatten())
            loss = loss + 0.1 * F.mse_loss(logits, hint)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self._trail()
            memory = memory.detach()
            losses.append(loss.detach())
        return torch.stack(losses).mean().item()


if __name__ == "__main__":
    torch.manual_seed(66)
    shift = Shift(SignalBox())
    for day in range(6):
        print(f"day {day}: {shift.day(traffic()):.3f}")
