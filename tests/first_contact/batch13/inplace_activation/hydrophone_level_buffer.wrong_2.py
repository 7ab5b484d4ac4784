"""Whale or ship? Hydrophone spectra are divided by a running level before the classifier."""
import torch
import torch.nn as nn


class RunningLevel(nn.Module):
    """Divides by the level of the past; the buffer goes into the state_dict."""

    def __init__(self, bands, momentum=0.1):
        super().__init__()
        self.momentum = momentum
        self.register_buffer("level", torch.ones(bands))

    def forward(self, x):
        y = x.detach() / self.level
        if self.training:
            with torch.no_grad():
                now = x.abs().mean(0)
                self.level.mul_(1 - self.momentum).add_(self.momentum * now)
        return y


class Listener(nn.Module):
    def __init__(self, bands=32, classes=3):
        super().__init__()
        self.mix = nn.Linear(bands, bands)
        self.level = RunningLevel(bands)
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(bands, classes))

    def forward(self, spectrum):
        return self.head(self.level(self.mix(spectrum)))


torch.manual_seed(13)
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
    print(step, round(loss.item(), 4), round(model.level.level.mean().item(), 4))
