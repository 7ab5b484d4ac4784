# expect: pattern = duplicate-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = d_loss, errD_real, errD_fake, errD
import torch
import torch.nn as nn

torch.manual_seed(999)
nz = 5
netG = nn.Sequential(nn.Linear(nz, 12), nn.ReLU(), nn.Linear(12, 2), nn.Tanh())
netD = nn.Sequential(nn.Linear(2, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1), nn.Sigmoid())
criterion = nn.BCELoss()
optD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))

for it in range(4):
    real = torch.rand(8, 2) * 2 - 1
    netD.zero_grad()
    errD_real = criterion(netD(real), torch.ones(8, 1))
    errD_real.backward()  # expect: place
    fake = netG(torch.randn(8, nz))
    errD_fake = criterion(netD(fake.detach()), torch.zeros(8, 1))
    errD_fake.backward()  # expect: place
    errD = errD_real + errD_fake
    errD.backward()  # expect: place
    optD.step()

    netG.zero_grad()
    errG = criterion(netD(fake), torch.ones(8, 1))
    errG.backward()
    optG.step()
    print(f"[{it}] D {errD.item():.3f} G {errG.item():.3f}")
