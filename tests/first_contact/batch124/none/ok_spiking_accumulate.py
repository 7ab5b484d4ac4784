# expect: pattern = none
# expect: raises = nothing
"""Spiking network for gestures from an event camera, with gradient accumulation."""
import torch
import torch.nn as nn


class SurrogateSpike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).float()

    @staticmethod
    def backward(ctx, grad):
        (v,) = ctx.saved_tensors
        return grad / (1 + 10 * v.abs()) ** 2


class LIF(nn.Module):
    def __init__(self, decay=0.8):
        super().__init__()
        self.decay = nn.Parameter(torch.tensor(decay))
        self.v = None

    def reset(self):
        self.v = None

    def forward(self, current):
        if self.v is None:
            self.v = torch.zeros_like(current)
        self.v = self.decay * self.v + current
        spikes = SurrogateSpike.apply(self.v - 1.0)
        self.v = self.v - spikes.detach()
        return spikes


class GestureNet(nn.Module):
    def __init__(self, n_in, n_hidden, n_out):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(n_in, n_hidden), nn.Linear(n_hidden, n_out)
        self.lif1, self.lif2 = LIF(), LIF(0.9)

    def reset(self):
        self.lif1.reset()
        self.lif2.reset()

    def step(self, frame):
        self.lif2(self.fc2(self.lif1(self.fc1(frame))))
        return self.lif2.v


def events(n, steps=12, n_in=16):
    y = torch.randint(0, 4, (n,))
    rate = 0.1 * torch.ones(n, steps, n_in)
    for k in range(4):
        rate[y == k, :, 4 * k : 4 * k + 4] = 0.6
    return torch.bernoulli(rate), y


torch.manual_seed(2)
x, y = events(256)
net = GestureNet(16, 24, 4)
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
ce = nn.CrossEntropyLoss()
ACCUMULATE = 4

opt.zero_grad()
for i, idx in enumerate(torch.randperm(256).repeat(2).split(16), 1):
    net.reset()
    loss = 0
    for t in range(x.size(1)):
        loss += ce(net.step(x[idx, t]), y[idx])
    loss = loss / (x.size(1) * ACCUMULATE)
    loss.backward()
    if i % ACCUMULATE == 0:
        opt.step()
        opt.zero_grad()
        print(i, loss.item() * ACCUMULATE)
