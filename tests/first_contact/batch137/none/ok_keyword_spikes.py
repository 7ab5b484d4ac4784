# expect: pattern = none
# expect: raises = nothing
"""Spiking network that spots keywords in a continuous stream, trained window by window."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class SpikeFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, membrane):
        ctx.save_for_backward(membrane)
        return (membrane > 0).float()

    @staticmethod
    def backward(ctx, grad):
        (membrane,) = ctx.saved_tensors
        return grad / (1 + 5 * membrane.abs()) ** 2


class LIF(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.decay = nn.Parameter(torch.full((size,), 1.5))
        self.membrane = None

    def forward(self, current):
        if self.membrane is None:
            self.membrane = torch.zeros_like(current)
        membrane = torch.sigmoid(self.decay) * self.membrane + current
        spikes = SpikeFn.apply(membrane - 1.0)
        self.membrane = membrane - spikes.detach()
        return spikes

    def cut(self):
        if self.membrane is not None:
            self.membrane = self.membrane.detach()


class Spotter(nn.Module):
    def __init__(self, channels, hidden, classes):
        super().__init__()
        self.inp = nn.Linear(channels, hidden)
        self.lif = LIF(hidden)
        self.out = nn.Linear(hidden, classes)

    def forward(self, window):
        rate = 0.0
        for frame in window:
            rate = rate + self.lif(self.inp(frame))
        return self.out(rate / len(window))


def stream(windows, length, batch, channels, classes):
    for _ in range(windows):
        labels = torch.randint(classes, (batch,))
        frames = torch.rand(length, batch, channels)
        frames[:, torch.arange(batch), labels] += 1.5
        yield frames, labels


def main():
    torch.manual_seed(17)
    model = Spotter(channels=10, hidden=24, classes=4)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    running, history = 0.0, []
    for i, (frames, labels) in enumerate(stream(24, 8, 12, 10, 4)):
        model.lif.cut()
        logits = model(frames)
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running = 0.9 * running + 0.1 * loss.item()
        history.append(logits.detach().softmax(dim=1).numpy().max(axis=1).mean())
        if i % 8 == 7:
            print(f"window {i}: loss {running:.4f} confidence {np.mean(history[-8:]):.3f}")


if __name__ == "__main__":
    main()
