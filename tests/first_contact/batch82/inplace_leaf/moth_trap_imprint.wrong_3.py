"""Moths at a light trap, species by species: every new one is imprinted on the head, then tuned."""
import torch
import torch.nn.functional as F
from torch import nn


class CosineHead(nn.Module):
    def __init__(self, width, species):
        super().__init__()
        self.weight = nn.Parameter(0.01 * torch.randn(species, width))
        self.scale = nn.Parameter(torch.tensor(5.0))

    def forward(self, z):
        return self.scale * F.linear(F.normalize(z, dim=1), F.normalize(self.weight, dim=1))


class TrapNet(nn.Module):
    def __init__(self, wings, width, species):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(wings, 16), nn.ReLU(), nn.Linear(16, width))
        self.head = CosineHead(width, species)

    def forward(self, x):
        return self.head(self.body(x))


class Night:
    """What one night brings: some of every species seen up to now."""

    def __init__(self, centres, known):
        self.y = torch.arange(known).repeat_interleave(12)
        self.x = centres[self.y] + 0.4 * torch.randn(len(self.y), centres.shape[1])

    def of(self, species):
        return self.x[self.y == species]


def imprint(net, species, examples):
    with torch.no_grad():
        z = F.normalize(net.body(examples), dim=1)
    prototype = F.normalize(z.mean(0), dim=0)
    net.head.weight.requires_grad_(False)
    net.head.weight[species] = prototype


def tune(net, opt, night, known, steps=5):
    for _ in range(steps):
        opt.zero_grad()
        logits = net(night.x)[:, :known]
        loss = F.cross_entropy(logits, night.y)
        loss.backward()
        opt.step()
    right = (logits.argmax(1) == night.y).float().mean()
    return loss.item(), right.item()


def season(species=5, wings=6):
    torch.manual_seed(23)
    centres = torch.randn(species, wings)
    net = TrapNet(wings, 8, species)
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for known in range(2, species + 1):
        night = Night(centres, known)
        for new in range(0 if known == 2 else known - 1, known):
            imprint(net, new, night.of(new))
        print(known, *(round(v, 3) for v in tune(net, opt, night, known)))


season()
