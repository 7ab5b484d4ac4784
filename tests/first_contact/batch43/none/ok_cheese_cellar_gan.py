# expect: pattern = none
# humidity curves of cheese cellars, GAN with n_critic and one batch of fakes per generator turn
import torch
from torch import nn


def set_requires_grad(net, flag):
    for p in net.parameters():
        p.requires_grad = flag


def curves(n, length=24):
    t = torch.linspace(0, 6.28, length)
    return torch.sin(t + 0.5 * torch.randn(n, 1)) * (0.6 + 0.2 * torch.rand(n, 1)) + 0.02 * torch.randn(n, length)


torch.manual_seed(31)
netG = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2, inplace=True), nn.Linear(32, 24), nn.Tanh())
netD = nn.Sequential(nn.Linear(24, 32), nn.LeakyReLU(0.2, inplace=True), nn.Linear(32, 1))
optG = torch.optim.Adam(netG.parameters(), lr=1e-3, betas=(0.5, 0.9))
optD = torch.optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.9))
n_critic, lam = 2, 10.0

for step in range(15):
    fake = netG(torch.randn(16, 4))

    set_requires_grad(netD, True)
    for _ in range(n_critic):
        real = curves(16)
        optD.zero_grad()
        netD(real).mean().neg().backward()
        netD(fake.detach()).mean().backward()
        eps = torch.rand(16, 1)
        mix = (eps * real + (1 - eps) * fake.detach()).requires_grad_(True)
        grad = torch.autograd.grad(netD(mix).sum(), mix, create_graph=True)[0]
        gp = lam * (grad.norm(2, dim=1) - 1).pow(2).mean()
        gp.backward()
        optD.step()

    set_requires_grad(netD, False)
    optG.zero_grad()
    g_loss = -netD(fake).mean()
    g_loss.backward()
    optG.step()
    if step % 5 == 0:
        print("step %d gp %.3f g %.3f" % (step, gp.item(), g_loss.item()))
