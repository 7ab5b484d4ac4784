"""Texture synthesis from one microscope slide (rock thin section), one scale only."""
import argparse

import torch
import torch.nn as nn
import torch.optim as optim

parser = argparse.ArgumentParser()
parser.add_argument('--niter', type=int, default=6)
parser.add_argument('--Dsteps', type=int, default=3)
parser.add_argument('--Gsteps', type=int, default=3)
parser.add_argument('--lr', type=float, default=5e-4)
parser.add_argument('--alpha', type=float, default=10.)
parser.add_argument('--nfc', type=int, default=8)
opt = parser.parse_args([])


class ConvBlock(nn.Sequential):
    def __init__(self, cin, cout):
        super(ConvBlock, self).__init__()
        self.add_module('conv', nn.Conv2d(cin, cout, 3, padding=1))
        self.add_module('norm', nn.InstanceNorm2d(cout, affine=True))
        self.add_module('act', nn.LeakyReLU(0.2))


class Generator(nn.Module):
    def __init__(self, nfc):
        super(Generator, self).__init__()
        self.head = ConvBlock(3, nfc)
        self.body = ConvBlock(nfc, nfc)
        self.tail = nn.Conv2d(nfc, 3, 3, padding=1)

    def forward(self, noise, base):
        return torch.tanh(self.tail(self.body(self.head(noise)))) + base


class PatchCritic(nn.Module):
    def __init__(self, nfc):
        super(PatchCritic, self).__init__()
        self.net = nn.Sequential(ConvBlock(3, nfc), ConvBlock(nfc, nfc), nn.Conv2d(nfc, 1, 3, padding=1))

    def forward(self, x):
        return self.net(x)


def slide(size=20):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing='ij')
    grains = torch.sin(0.9 * xx + 0.3 * yy) * torch.cos(0.7 * yy)
    return torch.stack([grains, grains.roll(3, 0), -grains]).unsqueeze(0) * 0.8


torch.manual_seed(5)
real = slide()
netG, netD = Generator(opt.nfc), PatchCritic(opt.nfc)
optimizerG = optim.Adam(netG.parameters(), lr=opt.lr, betas=(0.5, 0.999))
optimizerD = optim.Adam(netD.parameters(), lr=opt.lr, betas=(0.5, 0.999))
z_opt = torch.randn_like(real)
base = torch.zeros_like(real)

for it in range(opt.niter):
    # (1) critic
    for j in range(opt.Dsteps):
        netD.zero_grad()
        errD_real = -netD(real).mean()
        errD_real.backward()
        noise = 0.1 * torch.randn_like(real)
        fake = netG(noise, base)
        errD_fake = netD(fake.detach()).clamp(min=-1).mean()
        errD_fake.backward()
        optimizerD.step()

    # (2) generator
    for j in range(opt.Gsteps):
        netG.zero_grad()
        fake = netG(noise, base)
        fake_score = netD(fake)
        errG = -fake_score.mean()
        errG.backward()
        rec = opt.alpha * nn.functional.mse_loss(netG(z_opt, base), real)
        rec.backward()
        optimizerG.step()

    print('[%d/%d] errD %.4f errG %.4f rec %.4f' % (it, opt.niter, (errD_real + errD_fake).item(), errG.item(), rec.item()))
