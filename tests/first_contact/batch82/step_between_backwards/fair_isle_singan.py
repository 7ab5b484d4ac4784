# expect: pattern = step-between-backwards
# expect: also = forward-outside-loop
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = fake
"""More of one jumper: a patch GAN that learns from a single piece of fair-isle knitting."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.LeakyReLU(0.2))


class Knitter(nn.Module):
    def __init__(self, nfc):
        super().__init__()
        self.head = block(1, nfc)
        self.body = block(nfc, nfc)
        self.tail = nn.Sequential(nn.Conv2d(nfc, 1, 3, padding=1), nn.Tanh())

    def forward(self, noise, prev):
        return self.tail(self.body(self.head(noise))) + prev


class Judge(nn.Module):
    def __init__(self, nfc):
        super().__init__()
        self.layers = nn.Sequential(block(1, nfc), block(nfc, nfc), nn.Conv2d(nfc, 1, 3))

    def forward(self, x):
        return self.layers(x)


def swatch(size):
    rows = torch.arange(size)
    return ((rows[:, None] + rows[None, :]) % 4 < 2).float().mul(2).sub(1)[None, None]


def train_scale(opt, real):
    netG, netD = Knitter(opt.nfc), Judge(opt.nfc)
    optimizerG = torch.optim.Adam(netG.parameters(), lr=opt.lr, betas=(0.5, 0.999))
    optimizerD = torch.optim.Adam(netD.parameters(), lr=opt.lr, betas=(0.5, 0.999))
    prev = torch.zeros_like(real)
    z_opt = torch.randn_like(real)
    for epoch in range(opt.niter):
        for j in range(opt.Dsteps):
            noise = 0.5 * torch.randn_like(real)
            fake = netG(noise, prev)  # expect: place
            optimizerD.zero_grad()
            errD = F.relu(1 - netD(real)).mean() + F.relu(1 + netD(fake.detach())).mean()
            errD.backward()
            optimizerD.step()
        for j in range(opt.Gsteps):
            optimizerG.zero_grad()
            errG = -netD(fake).mean()  # expect: place
            errG.backward(retain_graph=True)  # expect: place
            rec_loss = opt.alpha * F.mse_loss(netG(z_opt, prev), real)
            rec_loss.backward()
            optimizerG.step()  # expect: place
        print(f"[{epoch}/{opt.niter}] D {errD.item():.3f} G {errG.item():.3f} rec {rec_loss.item():.3f}")
    return netG


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nfc", type=int, default=6)
    parser.add_argument("--niter", type=int, default=4)
    parser.add_argument("--Gsteps", type=int, default=3)
    parser.add_argument("--Dsteps", type=int, default=3)
    parser.add_argument("--alpha", type=float, default=10.0)
    parser.add_argument("--lr", type=float, default=5e-3)
    opt = parser.parse_args([])
    torch.manual_seed(19)
    train_scale(opt, swatch(12))


if __name__ == "__main__":
    main()
