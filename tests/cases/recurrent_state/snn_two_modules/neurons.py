import torch
from torch import nn


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).float()

    @staticmethod
    def backward(ctx, grad):
        (v,) = ctx.saved_tensors
        return grad / (1 + 10 * v.abs()) ** 2


class LIF(nn.Module):
    def __init__(self, beta=0.8, threshold=0.5):
        super().__init__()
        self.beta = nn.Parameter(torch.tensor(beta))
        self.threshold = threshold
        self.mem = 0.0

    def forward(self, current):
        self.mem = self.beta * self.mem + current  # expect: place
        spikes = Spike.apply(self.mem - self.threshold)
        self.mem = self.mem - spikes.detach() * self.threshold  # expect: place
        return spikes


class SpikingNet(nn.Module):
    def __init__(self, features, width, classes):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(features, width), nn.Linear(width, classes)
        self.hidden, self.out = LIF(), LIF()

    def forward(self, x):
        return self.out(self.fc2(self.hidden(self.fc1(x))))
