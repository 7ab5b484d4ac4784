"""GAN for thread tension profiles of a loom. The generator is slow, so it gets three updates for each of the discriminator."""
import torch
import torch.nn as nn

torch.manual_seed(0)
nz, length, batch = 8, 24, 32

netG = nn.Sequential(nn.Linear(nz, 32), nn.ReLU(), nn.Linear(32, length), nn.Tanh())
netD = nn.Sequential(nn.Linear(length, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
criterion = nn.BCEWithLogitsLoss()
optG = torch.optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999))
optD = torch.optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))


def real_batch():
    phase = torch.rand(batch, 1) * 6.28
    return 0.8 * torch.sin(torch.linspace(0, 6.28, length) + phase)


ones, zeros = torch.ones(batch, 1), torch.zeros(batch, 1)
for it in range(6):
    # generator, three times
    for _ in range(3):
        netG.zero_grad()
        noise = torch.randn(batch, nz)
        fake = netG(noise).detach()
        lossG = criterion(netD(fake), ones)
        lossG.backward()
        optG.step()

    # discriminator, once, with the last fakes
    netD.zero_grad()
    lossD_real = criterion(netD(real_batch()), ones)
    lossD_fake = criterion(netD(fake), zeros)
    lossD = lossD_real + lossD_fake
    lossD.backward()
    optD.step()
    print(it, round(lossD.item(), 4), round(lossG.item(), 4))
