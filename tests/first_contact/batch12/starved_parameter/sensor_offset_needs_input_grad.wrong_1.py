"""Per-channel gain and offset of a sensor array before a small classifier, with a hand-written backward."""
import torch
from torch import nn


class Modulate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, signal, gain, offset):
        ctx.save_for_backward(signal, gain)
        return signal * gain + offset

    @staticmethod
    def backward(ctx, upstream):
        signal, gain = ctx.saved_tensors
        to_signal = to_gain = to_offset = None
        if ctx.needs_input_grad[0]:
            to_signal = upstream * gain
        if ctx.needs_input_grad[1]:
            to_gain = (upstream * signal).sum(0)
        if ctx.needs_input_grad[2]:
            to_offset = upstream.mean(0)
        return to_signal, to_gain, to_offset


class Calibrated(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(channels))
        self.offset = nn.Parameter(torch.zeros(channels))
        self.read = nn.Sequential(nn.Tanh(), nn.Linear(channels, classes))

    def forward(self, signal):
        return self.read(Modulate.apply(signal, self.gain, self.offset))


torch.manual_seed(5)
drift = torch.randn(10)
teacher = torch.randn(10, 3)
model = Calibrated(10, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(10):
    clean = torch.randn(64, 10)
    answer = (clean @ teacher).argmax(1)
    loss = nn.functional.cross_entropy(model(clean + drift), answer)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 4))
