# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
"""Remove baseline wander and muscle noise from synthetic heart traces."""
import math

import torch
import torch.nn as nn


class GatedBlock(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        pad = dilation
        self.signal = nn.Conv1d(channels, channels, 3, padding=pad, dilation=dilation)
        self.gate = nn.Conv1d(channels, channels, 3, padding=pad, dilation=dilation)
        self.mix = nn.Conv1d(channels, channels, 1)

    def forward(self, trace):
        z = torch.tanh(self.signal(trace))
        z *= torch.sigmoid(self.gate(trace))  # expect: place
        skip = self.mix(z)
        return trace + skip, skip


class Denoiser(nn.Module):
    def __init__(self, channels=12, dilations=(1, 2, 4)):
        super().__init__()
        self.enter = nn.Conv1d(1, channels, 5, padding=2)
        self.blocks = nn.ModuleList(GatedBlock(channels, d) for d in dilations)
        self.leave = nn.Conv1d(channels, 1, 1)

    def forward(self, trace):
        trace = self.enter(trace)
        skips = []
        for block in self.blocks:
            trace, skip = block(trace)
            skips.append(skip)
        return self.leave(torch.stack(skips).sum(0))


class Callback:
    def on_epoch_end(self, epoch, history):
        pass


class Printer(Callback):
    def on_epoch_end(self, epoch, history):
        print(f"[{epoch}] l1 {history[-1]:.4f}")


class StopWhenFlat(Callback):
    def __init__(self, margin):
        self.margin = margin

    def on_epoch_end(self, epoch, history):
        if len(history) > 2 and abs(history[-2] - history[-1]) < self.margin:
            raise StopIteration


def heartbeats(count, length, rng):
    t = torch.linspace(0, 4 * math.pi, length)
    phase = 2 * math.pi * torch.rand(count, 1, generator=rng)
    clean = torch.exp(-8 * (1 - torch.cos(t + phase)))
    wander = 0.3 * torch.sin(0.3 * t + 2 * phase)
    noisy = clean + wander + 0.1 * torch.randn(count, length, generator=rng)
    return noisy.unsqueeze(1), clean.unsqueeze(1)


def fit(net, data, epochs, callbacks):
    noisy, clean = data
    opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
    history = []
    try:
        for epoch in range(epochs):
            running = 0.0
            for lo in range(0, len(noisy), 8):
                guess = net(noisy[lo:lo + 8])
                l1 = nn.functional.l1_loss(guess, clean[lo:lo + 8])
                opt.zero_grad(set_to_none=True)
                l1.backward()
                opt.step()
                running += l1.item()
            history.append(running)
            for cb in callbacks:
                cb.on_epoch_end(epoch, history)
    except StopIteration:
        print("flat, stopping")
    return history


if __name__ == "__main__":
    torch.manual_seed(2)
    rng = torch.Generator().manual_seed(5)
    fit(Denoiser(), heartbeats(32, 96, rng), epochs=5, callbacks=[Printer(), StopWhenFlat(1e-5)])
