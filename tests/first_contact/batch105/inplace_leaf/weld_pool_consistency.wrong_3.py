"""Consistency training on contours of weld pools: one step from noise to a contour.

A contour is the pool's radius at 16 angles. The network at a noise level has to agree with its
slowly moving average at the next lower level.
"""
import math

import torch
import torch.nn as nn

ANGLES = 16
SIGMA_MIN, SIGMA_MAX, SIGMA_DATA = 0.02, 4.0, 0.5


def contours(n):
    """Teardrops of random length, width and tilt, standardised."""
    phi = torch.arange(ANGLES) * 2 * math.pi / ANGLES
    length = 1 + 0.5 * torch.rand(n, 1)
    width = 0.6 + 0.2 * torch.rand(n, 1)
    tilt = 0.15 * torch.randn(n, 1)
    tail = 0.3 * torch.relu(torch.cos(phi - math.pi - tilt)) ** 3 * length
    radius = length * width / torch.sqrt((width * torch.cos(phi - tilt)) ** 2 + (length * torch.sin(phi - tilt)) ** 2)
    shape = radius + tail
    return (shape - shape.mean()) / shape.std() * SIGMA_DATA


def levels(count, rho=7.0):
    """Karras' spacing from the smallest to the largest noise."""
    ramp = torch.linspace(0, 1, count)
    return (SIGMA_MIN ** (1 / rho) + ramp * (SIGMA_MAX ** (1 / rho) - SIGMA_MIN ** (1 / rho))) ** rho


class Consistency(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.enter = nn.Linear(ANGLES + 8, width)
        self.middle = nn.Linear(width, width)
        self.leave = nn.Linear(width, ANGLES)

    def forward(self, x, sigma):
        sigma = sigma.view(-1, 1)
        freq = torch.arange(1, 5)
        told = sigma.log() * freq
        c_in = 1 / (sigma ** 2 + SIGMA_DATA ** 2).sqrt()
        c_skip = SIGMA_DATA ** 2 / ((sigma - SIGMA_MIN) ** 2 + SIGMA_DATA ** 2)
        c_out = SIGMA_DATA * (sigma - SIGMA_MIN) * c_in
        h = torch.cat([c_in * x, told.sin(), told.cos()], 1)
        h = torch.nn.functional.silu(self.enter(h))
        h = h + torch.nn.functional.silu(self.middle(h))
        return c_skip * x + c_out * self.leave(h)


class Shadow:
    """Exponential moving average of a network, in a network of its own."""

    def __init__(self, net, decay=0.9):
        self.decay = decay
        self.net = type(net)()
        self.net.load_state_dict(net.state_dict())
        self.net.eval()
        self.net.requires_grad_(False)

    def follow(self, net):
        for slow, fast in zip(self.net.parameters(), net.parameters()):
            slow.mul_(self.decay).add_(fast, alpha=1 - self.decay)

    def __call__(self, x, sigma):
        with torch.no_grad():
            return self.net(x, sigma)


def pseudo_huber(a, b, c=0.03):
    return (((a - b) ** 2).sum(1) + c ** 2).sqrt().mean() - c


@torch.no_grad()
def quality(sample, truth):
    """Distance between the covariances; a poor man's FID."""
    mean = (sample.mean(0) - truth.mean(0)).norm()
    cov = (torch.cov(sample.T) - torch.cov(truth.T)).norm()
    return (mean + cov).item()


def train(steps=120, batch=64):
    net = Consistency()
    shadow = Shadow(net)
    optimizer = torch.optim.RAdam(net.parameters(), lr=3e-3)
    truth = contours(512)
    data = contours(2048)
    for step in range(1, steps + 1):
        count = 6 if step < steps // 2 else 12  # curriculum of discretisations
        sigma = levels(count)
        n = torch.randint(count - 1, (batch,))
        x = data[torch.randint(len(data), (batch,))]
        z = torch.randn_like(x)
        above = net(x + sigma[n + 1].view(-1, 1) * z, sigma[n + 1])
        below = shadow(x + sigma[n].view(-1, 1) * z, sigma[n])
        loss = pseudo_huber(above, below)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shadow.follow(net)
        if step % 40 == 0:
            noise = SIGMA_MAX * torch.randn(512, ANGLES)
            sample = shadow(noise, torch.full((512,), SIGMA_MAX))
            print(f"{step:4d} levels {count} loss {loss.item():.4f} off by {quality(sample, truth):.3f}")
    return shadow.net


if __name__ == "__main__":
    torch.manual_seed(41)
    train()
