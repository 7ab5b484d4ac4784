import torch
from torch import nn


def down(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 4, 2, 1), nn.InstanceNorm2d(o, affine=True), nn.LeakyReLU(0.2))


def up(i, o):
    return nn.Sequential(nn.ConvTranspose2d(i, o, 4, 2, 1), nn.InstanceNorm2d(o, affine=True), nn.ReLU())


class Cleaner(nn.Module):
    """A small U: page in, page without the ink that shows through out."""

    def __init__(self, ch=8):
        super().__init__()
        self.d1, self.d2 = down(1, ch), down(ch, 2 * ch)
        self.u1, self.u2 = up(2 * ch, ch), up(2 * ch, ch)
        self.out = nn.Conv2d(ch, 1, 3, padding=1)

    def forward(self, page):
        a = self.d1(page)
        b = self.u1(self.d2(a))
        return torch.tanh(self.out(self.u2(torch.cat([a, b], 1))))


class PatchCritic(nn.Module):
    def __init__(self, ch=8):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(2, ch, 4, 2, 1), nn.LeakyReLU(0.2),
                                 nn.Conv2d(ch, 2 * ch, 3, 1, 1), nn.LeakyReLU(0.2),
                                 nn.Conv2d(2 * ch, 1, 3, 1, 1))

    def forward(self, page, version):
        return self.net(torch.cat([page, version], 1))


def init_weights(m):
    if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.normal_(m.weight, 0.0, 0.05)
        nn.init.zeros_(m.bias)
