"""GAN for 5x5 letters: one batch of fakes serves both steps, cut off for the discriminator only."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def letters(n):
    base = torch.tensor([[1, 0, 0, 0, 1], [1, 1, 0, 1, 1], [1, 0, 1, 0, 1], [1, 0, 0, 0, 1], [1, 0, 0, 0, 1]])
    return (base.float().flatten() + 0.1 * torch.randn(n, 25)).clamp(0, 1)


torch.manual_seed(3)
G = nn.Sequential(nn.Linear(4, 30), nn.ReLU(True), nn.Linear(30, 25), nn.Sigmoid())
D = nn.Sequential(nn.Linear(25, 30), nn.LeakyReLU(0.2, True), nn.Linear(30, 1))
optG = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.999))
optD = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.999))
one, zero = torch.ones(16, 1), torch.zeros(16, 1)
for it in range(10):
    fake = G(torch.randn(16, 4))

    D.zero_grad()
    errD_real = F.binary_cross_entropy_with_logits(D(letters(16)), one)
    errD_real.backward()
    errD_fake = F.binary_cross_entropy_with_logits(D(fake.detach()), zero)
    errD_fake.backward()
    optD.step()

    G.zero_grad()
    errG = F.binary_cross_entropy_with_logits(D(fake), one)
    errG.backward()
    optG.step()
print((errD_real + errD_fake).item(), errG.item())
