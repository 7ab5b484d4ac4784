"""A small GAN for the ring spacing along a fish scale (24 radial readings a scale)."""
import torch
import torch.nn as nn

torch.manual_seed(0)

nz, length, batch_size = 8, 24, 32
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(nz, 48), nn.ReLU(True),
            nn.Linear(48, 48), nn.ReLU(True),
            nn.Linear(48, length), nn.Tanh(),
        )

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(length, 48), nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(48, 1), nn.Sigmoid(),
        )

    def forward(self, x):
        return self.main(x).view(-1)


def scales(n):
    radius = torch.linspace(0, 1, length)
    winters = torch.randint(2, 6, (n, 1)).float()
    return 0.8 * torch.sin(6.283 * winters * radius) * (1 - 0.4 * radius)


netG, netD = Generator().to(device), Discriminator().to(device)
criterion = nn.BCELoss()
optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999))

for it in range(30):
    # update D: maximize log(D(x)) + log(1 - D(G(z)))
    netD.zero_grad()
    real = scales(batch_size).to(device)
    label = torch.ones(batch_size, device=device)
    errD_real = criterion(netD(real), label)

    noise = torch.randn(batch_size, nz, device=device)
    fake = netG(noise)
    label = torch.zeros(batch_size, device=device)
    errD_fake = criterion(netD(fake), label)
    errD = errD_real + errD_fake
    errD.backward()
    optimizerD.step()

    # update G: maximize log(D(G(z)))
    netG.zero_grad()
    label.fill_(1.0)
    fake = netG(torch.randn(batch_size, nz, device=device))
    errG = criterion(netD(fake), label)
    errG.backward()
    optimizerG.step()

    if it % 10 == 0:
        print(f"[{it}/30] Loss_D: {errD.item():.4f} Loss_G: {errG.item():.4f}")
