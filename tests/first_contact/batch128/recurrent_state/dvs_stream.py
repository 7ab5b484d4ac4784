# expect: pattern = recurrent-state
# expect: also = manual-tbptt
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = v, self.v, trace, self.trace
"""Leaky integrate-and-fire network that follows the speed of a moving edge from event counts."""
import math

import torch
import torch.nn as nn


class FastSigmoidSpike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, u):
        ctx.save_for_backward(u)
        return (u > 0).to(u.dtype)

    @staticmethod
    def backward(ctx, grad_out):
        (u,) = ctx.saved_tensors
        return grad_out / (1.0 + 8.0 * u.abs()) ** 2


class LIF(nn.Module):
    def __init__(self, n_in, n_out, beta=0.85, threshold=0.6):
        super().__init__()
        self.fc = nn.Linear(n_in, n_out)
        self.beta = nn.Parameter(torch.full((n_out,), math.log(beta / (1 - beta))))
        self.threshold = threshold
        self.v = None

    def forward(self, x):
        if self.v is None:
            self.v = x.new_zeros(x.shape[0], self.fc.out_features)
        self.v = torch.sigmoid(self.beta) * self.v + self.fc(x)  # expect: place
        s = FastSigmoidSpike.apply(self.v - self.threshold)
        self.v = self.v - s * self.threshold  # expect: place
        return s


class Readout(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.fc = nn.Linear(n_in, 1)
        self.trace = None

    def forward(self, s):
        drive = self.fc(s)
        self.trace = drive if self.trace is None else 0.9 * self.trace + 0.1 * drive  # expect: place
        return self.trace


class SpeedNet(nn.Module):
    def __init__(self, pixels=16, hidden=40):
        super().__init__()
        self.lif1 = LIF(pixels, hidden)
        self.lif2 = LIF(hidden, hidden)
        self.read = Readout(hidden)

    def clear(self):
        self.lif1.v = self.lif2.v = self.read.trace = None

    def forward(self, window):
        outs = [self.read(self.lif2(self.lif1(frame))) for frame in window]
        return torch.stack(outs).squeeze(-1)


def simulate(cameras=12, steps=200, pixels=16):
    gen = torch.Generator().manual_seed(31)
    phase = 6.28 * torch.rand(cameras, generator=gen)
    t = torch.arange(steps).float().unsqueeze(1)
    speed = 0.5 + 0.4 * torch.sin(t / 25 + phase)
    where = speed.cumsum(dim=0) % pixels
    grid = torch.arange(pixels).float()
    gap = (where.unsqueeze(-1) - grid).abs()
    rate = 2.0 * torch.exp(-torch.minimum(gap, pixels - gap) ** 2)
    return torch.poisson(rate, generator=gen), speed


def main(epochs=3, window=20):
    torch.manual_seed(4)
    events, speed = simulate()
    net = SpeedNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
    criterion = nn.SmoothL1Loss()

    for epoch in range(epochs):
        net.clear()
        running = 0.0
        chunks = list(zip(events.split(window), speed.split(window)))
        for x, y in chunks:
            pred = net(x)
            loss = criterion(pred, y)
            optimizer.zero_grad()
            loss.backward()  # expect: place
            nn.utils.clip_grad_norm_(net.parameters(), 2.0)
            optimizer.step()
            running += loss.item()
        print(f"epoch {epoch}  loss {running / len(chunks):.4f}")


if __name__ == "__main__":
    main()
