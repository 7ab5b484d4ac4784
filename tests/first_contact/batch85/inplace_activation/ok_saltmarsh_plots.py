"""Cover of cordgrass in drone pictures of a salt marsh, with a thrifty residual network.

Whatever can be overwritten is: sums after convolutions, ReLUs after norms, masks before use.
"""
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Thrifty(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.a = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels))
        self.b = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels))
        self.gain = nn.Parameter(torch.ones(channels, 1, 1))

    def forward(self, x):
        y = self.a(x).relu_()
        y = self.b(y)
        y *= self.gain
        y += x
        return F.relu_(y)


class MarshNet(nn.Module):
    def __init__(self, width=8, depth=2):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.blocks = nn.Sequential(*[Thrifty(width) for _ in range(depth)])
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, x, water):
        score = self.head(self.blocks(self.stem(x)))
        score.masked_fill_(water, -12.0)
        return score


def pictures(count, size=16):
    x = torch.rand(count, 3, size, size)
    smooth = F.avg_pool2d(x[:, :1], 5, stride=1, padding=2)
    water = smooth < 0.45
    grass = ((smooth + 0.2 * x[:, 1:2]) > 0.62).float()
    grass[water] = 0.0
    x -= 0.5
    return x, water, grass


class Average:
    """Weights averaged over the last steps, to be judged in place of the raw ones."""

    def __init__(self, net, decay=0.9):
        self.net, self.decay = copy.deepcopy(net).requires_grad_(False), decay

    @torch.no_grad()
    def update(self, net):
        for slow, fast in zip(self.net.parameters(), net.parameters()):
            slow.lerp_(fast, 1 - self.decay)
        for slow, fast in zip(self.net.buffers(), net.buffers()):
            slow.copy_(fast)


def overlap(net, batch):
    x, water, grass = batch
    net.eval()
    with torch.no_grad():
        found = net(x, water) > 0
    both = (found & (grass > 0)).sum()
    return (2 * both / (found.sum() + grass.sum())).item()


def train(steps=40):
    torch.manual_seed(27)
    net = MarshNet()
    average = Average(net)
    decayed = [p for p in net.parameters() if p.dim() == 4]
    rest = [p for p in net.parameters() if p.dim() != 4]
    optimizer = torch.optim.AdamW([{"params": decayed}, {"params": rest, "weight_decay": 0.0}], lr=0.01)
    check = pictures(16)
    for step in range(steps):
        net.train()
        x, water, grass = pictures(8)
        score = net(x, water)
        per_pixel = F.binary_cross_entropy_with_logits(score, grass, reduction="none")
        per_pixel[water] = 0.0
        loss = per_pixel.sum() / (~water).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update(net)
        if step % 10 == 9:
            print(f"{step + 1}: loss {loss.item():.4f}, dice {overlap(average.net, check):.3f}")


train()
