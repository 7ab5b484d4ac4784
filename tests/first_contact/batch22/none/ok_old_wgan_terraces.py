'''WGAN (weight clipping) on profiles of terraced hillsides. Old code, from 2018, still runs.'''
from __future__ import print_function, division
import torch
import torch.nn as nn
import torch.optim as optim
from torch.autograd import Variable

torch.manual_seed(1)
nz, points, batchSize, clamp, Diters = 6, 20, 16, 0.02, 4
one = torch.FloatTensor([1]).squeeze()
mone = one * -1


class _netG(nn.Module):
    def __init__(self):
        super(_netG, self).__init__()
        self.main = nn.Sequential(nn.Linear(nz, 32), nn.BatchNorm1d(32), nn.ReLU(True), nn.Linear(32, points))

    def forward(self, z):
        return self.main(z).cumsum(1)


class _netD(nn.Module):
    def __init__(self):
        super(_netD, self).__init__()
        self.main = nn.Sequential(nn.Linear(points, 32), nn.LeakyReLU(0.2, inplace=True), nn.Linear(32, 1))

    def forward(self, x):
        return self.main(x).mean(0).view(1).squeeze()


def terraces(n):
    steps = (torch.rand(n, points) < 0.25).float()
    return (steps * (0.5 + torch.rand(n, points))).cumsum(1)


netG, netD = _netG(), _netD()
optimizerD = optim.RMSprop(netD.parameters(), lr=5e-4)
optimizerG = optim.RMSprop(netG.parameters(), lr=5e-4)
input, noise = torch.FloatTensor(batchSize, points), torch.FloatTensor(batchSize, nz)
fixed_noise = Variable(torch.randn(8, nz))
total_D, total_G = 0, 0
for gen_iterations in range(12):
    for p in netD.parameters():
        p.requires_grad = True
    for j in range(Diters):
        # clamp parameters to a cube
        for p in netD.parameters():
            p.data.clamp_(-clamp, clamp)
        netD.zero_grad()
        input.copy_(terraces(batchSize))
        inputv = Variable(input)
        errD_real = netD(inputv)
        errD_real.backward(one, retain_graph=True)
        noise.normal_(0, 1)
        fake = Variable(netG(Variable(noise)).data)     # completely freeze netG while training netD
        errD_fake = netD(fake)
        errD_fake.backward(mone)
        errD = errD_real - errD_fake
        optimizerD.step()
    for p in netD.parameters():
        p.requires_grad = False                         # to avoid computation
    netG.zero_grad()
    noise.normal_(0, 1)
    errG = netD(netG(Variable(noise)))
    errG.backward(one)
    optimizerG.step()
    total_D += errD.data
    total_G += errG.data
    if gen_iterations % 4 == 3:
        netG.eval()
        with torch.no_grad():
            height = netG(fixed_noise)[:, -1].mean()
        netG.train()
        print('[%d] Loss_D: %.5f Loss_G: %.5f height %.3f' % (
            gen_iterations, total_D / (gen_iterations + 1), total_G / (gen_iterations + 1), height))
