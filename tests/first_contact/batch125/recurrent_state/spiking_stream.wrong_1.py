"""Spiking network on a continuous sensor stream, trained chunk by chunk."""
import math

import torch
import torch.nn as nn

torch.manual_seed(11)


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, u):
        ctx.save_for_backward(u)
        return (u > 0).float()

    @staticmethod
    def backward(ctx, grad):
        (u,) = ctx.saved_tensors
        return grad / (1.0 + 10.0 * u.abs()) ** 2


class Leaky(nn.Module):
    """Leaky integrate-and-fire; the membrane stays charged from one chunk to the next."""

    def __init__(self, n_in, n_out, threshold=1.0, fire=True):
        super().__init__()
        self.fc = nn.Linear(n_in, n_out)
        self.beta = nn.Parameter(torch.full((n_out,), 2.0))
        self.threshold = threshold
        self.fire = fire
        self.mem = None

    def forward(self, x):
        current = self.fc(x)
        if self.mem is None:
            self.mem = torch.zeros_like(current)
        self.mem = torch.sigmoid(self.beta) * self.mem + current
        if not self.fire:
            return self.mem
        spikes = Spike.apply(self.mem - self.threshold)
        self.mem = self.mem - spikes * self.threshold
        return spikes


class StreamNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = Leaky(3, 24)
        self.readout = Leaky(24, 1, fire=False)

    def forward(self, chunk):
        return torch.stack([self.readout(self.hidden(frame)) for frame in chunk])


steps, streams, chunk_len = 240, 8, 12
time = torch.arange(steps).float().view(-1, 1)
phase = torch.rand(streams) * 2 * math.pi
sensor = torch.stack([torch.sin(0.2 * time + phase), torch.cos(0.11 * time + phase),
                      0.1 * torch.randn(steps, streams)], dim=-1)
target = (0.5 * sensor[..., 0] + 0.5 * sensor[..., 1]).unsqueeze(-1)

net = StreamNet()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
criterion = nn.MSELoss()

for start in range(0, steps, chunk_len):
    x = sensor[start:start + chunk_len]
    y = target[start:start + chunk_len]

    prediction = net(x)
    loss = criterion(prediction, y)

    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    print(f"t={start:4d} loss={loss.item():.4f}")
