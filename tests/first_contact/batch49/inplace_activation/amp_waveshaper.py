# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = wet
"""Grey-box model of a guitar amplifier: tone filter -> tube stages -> cabinet filter.

Fitted on pairs of dry and recorded signals by matching waveforms after pre-emphasis.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class TubeClip(torch.autograd.Function):
    """y = tanh(drive * x + bias); the slope is cheap to get back from y."""

    @staticmethod
    def forward(ctx, x, drive, bias):
        y = torch.tanh(drive * x + bias)
        ctx.save_for_backward(x, drive, y)
        return y

    @staticmethod
    def backward(ctx, grad_y):
        x, drive, y = ctx.saved_tensors
        grad_u = grad_y * (1 - y * y)
        return grad_u * drive, (grad_u * x).sum().view_as(drive), grad_u.sum().view_as(drive)


class FirFilter(nn.Module):
    def __init__(self, taps):
        super().__init__()
        kernel = torch.zeros(1, 1, taps)
        kernel[..., -1] = 1.0
        self.kernel = nn.Parameter(kernel + 0.01 * torch.randn(1, 1, taps))
        self.taps = taps

    def forward(self, signal):
        return F.conv1d(F.pad(signal, (self.taps - 1, 0)), self.kernel)


class TubeStage(nn.Module):
    def __init__(self, drive):
        super().__init__()
        self.drive = nn.Parameter(torch.tensor([drive]))
        self.bias = nn.Parameter(torch.tensor([0.05]))
        self.leak = nn.Parameter(torch.tensor([0.1]))
        self.level = nn.Parameter(torch.tensor([0.8]))

    def forward(self, dry):
        wet = TubeClip.apply(dry, self.drive, self.bias)
        wet += self.leak * dry          # some of the signal leaks past the tube  # expect: place
        return self.level * wet


class Amp(nn.Module):
    def __init__(self, stages=2, taps=12):
        super().__init__()
        self.tone = FirFilter(taps)
        self.stages = nn.ModuleList([TubeStage(1.0 + i) for i in range(stages)])
        self.cabinet = FirFilter(2 * taps)

    def forward(self, signal):
        signal = self.tone(signal)
        for stage in self.stages:
            signal = stage(signal)
        return self.cabinet(signal)


def pre_emphasis(signal, coef=0.85):
    return signal[..., 1:] - coef * signal[..., :-1]


def esr(pred, target):
    """error to signal ratio"""
    pred, target = pre_emphasis(pred), pre_emphasis(target)
    return (target - pred).pow(2).sum() / target.pow(2).sum().clamp_min(1e-6)


def plucks(n, length=400, rate=8000.0):
    t = torch.arange(length) / rate
    pitch = 110 * 2 ** (torch.randint(0, 24, (n, 1)) / 12)
    tone = sum(torch.sin(2 * math.pi * k * pitch * t) / k for k in (1, 2, 3))
    return (0.6 * tone * torch.exp(-20 * t)).unsqueeze(1)


def recorded(dry):
    x = torch.tanh(3.0 * dry + 0.2) + 0.05 * dry
    return 0.7 * (x + 0.4 * F.pad(x, (1, 0))[..., :-1])


def fit(steps=60, log_every=15):
    torch.manual_seed(440)
    amp = Amp()
    optimizer = torch.optim.Adam(amp.parameters(), lr=1e-2)
    for step in range(steps):
        dry = plucks(8)
        loss = esr(amp(dry), recorded(dry))
        optimizer.zero_grad()
        loss.backward()  # expect: place
        nn.utils.clip_grad_norm_(amp.parameters(), 1.0)
        optimizer.step()
        if step % log_every == 0 or step == steps - 1:
            print(f"{step:4d}  esr {loss.item():.4f}")
    return amp


if __name__ == "__main__":
    amp = fit()
    for i, stage in enumerate(amp.stages):
        print(f"stage {i}: drive {stage.drive.item():.2f}  leak {stage.leak.item():.3f}")
