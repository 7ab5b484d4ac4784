# expect: pattern = none
# expect: raises = nothing
"""Hydrophone spectra over a running level: the buffer moves in place, but before it is used."""
import torch
import torch.nn as nn


class RunningLevel(nn.Module):
    def __init__(self, bands, momentum=0.1):
        super().__init__()
        self.momentum = momentum
        self.register_buffer("level", torch.ones(bands))
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        if self.training:
            with torch.no_grad():
                self.level.lerp_(x.abs().mean(0), self.momentum)
                self.seen += 1
        return x / self.level


class Listener(nn.Module):
    def __init__(self, bands=32, classes=3):
        super().__init__()
        self.mix = nn.Linear(bands, bands)
        self.level = RunningLevel(bands)
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(bands, classes))

    def forward(self, spectrum):
        return self.head(self.level(self.mix(spectrum)))


torch.manual_seed(15)
templates = torch.rand(3, 32) * 4
model = Listener()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
loss_fn = nn.CrossEntropyLoss()
for step in range(12):
    who = torch.randint(0, 3, (40,))
    spectrum = templates[who] + torch.randn(40, 32)
    loss = loss_fn(model(spectrum), who)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 4), int(model.level.seen), round(model.level.level.mean().item(), 4))
