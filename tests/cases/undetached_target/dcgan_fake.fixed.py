import torch
import torch.nn as nn

torch.manual_seed(999)
nz, ngf, ndf = 8, 8, 8

netG = nn.Sequential(
    nn.ConvTranspose2d(nz, ngf, 4, 1, 0, bias=False),
    nn.BatchNorm2d(ngf),
    nn.ReLU(True),
    nn.ConvTranspose2d(ngf, 1, 4, 2, 1, bias=False),
    nn.Tanh(),
)
netD = nn.Sequential(
    nn.Conv2d(1, ndf, 4, 2, 1, bias=False),
    nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(ndf, 1, 4, 1, 0, bias=False),
)
criterion = nn.BCEWithLogitsLoss()
optimizerD = torch.optim.Adam(netD.parameters(), lr=0.0002, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=0.0002, betas=(0.5, 0.999))

for i in range(3):
    # (1) discriminator
    netD.zero_grad()
    real = torch.rand(6, 1, 8, 8)
    errD_real = criterion(netD(real).view(-1), torch.ones(6))
    errD_real.backward()
    noise = torch.randn(6, nz, 1, 1)
    fake = netG(noise)
    errD_fake = criterion(netD(fake.detach()).view(-1), torch.zeros(6))
    errD_fake.backward()
    optimizerD.step()

    # (2) generator
    netG.zero_grad()
    errG = criterion(netD(fake).view(-1), torch.ones(6))
    errG.backward()
    optimizerG.step()
