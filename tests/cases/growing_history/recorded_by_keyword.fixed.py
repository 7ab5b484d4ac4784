"""Tuning a synthesizer's envelope to a sound; the misfit of each step is recorded."""
import torch


class Recorder:
    def __init__(self, every=1):
        self.every, self.rows = every, []

    def record(self, *, misfit, step, comment=""):
        if step % self.every == 0:
            self.rows.append((step, misfit, comment))


def envelope(shape, t):
    attack, decay = shape.exp()
    return (1 - torch.exp(-attack * t)) * torch.exp(-decay * t)


torch.manual_seed(8)
t = torch.linspace(0, 2, 200)
sound = envelope(torch.tensor([2.0, 0.5]), t) + 0.01 * torch.randn(200)
shape = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.Adam([shape], lr=0.05)
recorder = Recorder()
for step in range(25):
    misfit = (envelope(shape, t) - sound).pow(2).mean()
    optimizer.zero_grad()
    misfit.backward()
    optimizer.step()
    recorder.record(misfit=misfit.item(), step=step)
print([f"{step}: {float(misfit):.4f}" for step, misfit, _ in recorder.rows[::8]])
