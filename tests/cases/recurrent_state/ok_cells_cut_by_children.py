# expect: pattern = none
"""The noise of a mill, hour by hour: three cells of three speeds, each with its own state."""

import torch
from torch import nn


class SlowCell(nn.Module):
    def __init__(self, size, speed):
        super().__init__()
        self.inner = nn.Linear(2 * size, size)
        self.speed = speed
        self.state = torch.zeros(4, size)

    def forward(self, x):
        new = torch.tanh(self.inner(torch.cat([x, self.state], 1)))
        self.state = (1 - self.speed) * self.state + self.speed * new
        return self.state


class Mill(nn.Module):
    def __init__(self, size=8):
        super().__init__()
        self.first = SlowCell(size, 0.9)
        self.later = nn.ModuleDict({"day": SlowCell(size, 0.3), "week": SlowCell(size, 0.05)})
        self.head = nn.Linear(size, 1)

    def hour_over(self):
        for name, part in self.named_modules():
            if isinstance(part, SlowCell):
                part.state = part.state.detach()

    def forward(self, x):
        heard = self.first(x)
        return self.head(heard + self.later["day"](heard) + self.later["week"](heard))


torch.manual_seed(3)
mill = Mill()
optimizer = torch.optim.Adam(mill.parameters(), lr=1e-2)
for hour in range(8):
    sound = torch.randn(5, 4, 8)
    optimizer.zero_grad()
    loss = sum((mill(x).squeeze(1) - x.mean(1)).pow(2).mean() for x in sound)
    loss.backward()
    optimizer.step()
    mill.hour_over()
