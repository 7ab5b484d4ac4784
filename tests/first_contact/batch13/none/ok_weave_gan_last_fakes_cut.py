# expect: pattern = none
# expect: raises = nothing
"""GAN for yarn thickness profiles: three generator updates, then the discriminator sees the last fakes twice."""
import torch
import torch.nn as nn

torch.manual_seed(1)
nz, length, batch = 8, 20, 32

netG = nn.Sequential(nn.Linear(nz, 32), nn.ReLU(), nn.Linear(32, length), nn.Tanh())
netD = nn.Sequential(nn.Linear(length, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
criterion = nn.BCEWithLogitsLoss()
optG = torch.optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999))
optD = torch.optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))
ones, zeros = torch.ones(batch, 1), torch.zeros(batch, 1)

for it in range(6):
    for _ in range(3):
        fake = netG(torch.randn(batch, nz))
        lossG = criterion(netD(fake), ones)
        optG.zero_grad()
        lossG.backward()
        optG.step()
    fake.detach_()

    for _ in range(2):
        real = 0.7 * torch.cos(torch.linspace(0, 9.42, length) + torch.rand(batch, 1) * 6.28)
        optD.zero_grad()  # also drops what lossG left in netD
        lossD_real = criterion(netD(real), ones)
        lossD_real.backward()
        lossD_fake = criterion(netD(fake), zeros)
        lossD_fake.backward()
        optD.step()
    print(it, round((lossD_real + lossD_fake).item(), 4), round(lossG.item(), 4))
