import torch
from torch import nn

torch.manual_seed(0)
N_CRITIC = 3
LATENT = 4


def block(i, o):
    return [nn.Linear(i, o), nn.LeakyReLU(0.2)]


G = nn.Sequential(*block(LATENT, 16), *block(16, 16), nn.Linear(16, 2))
C = nn.Sequential(*block(2, 16), *block(16, 16), nn.Linear(16, 1))
optG = torch.optim.RMSprop(G.parameters(), lr=5e-4)
optC = torch.optim.RMSprop(C.parameters(), lr=5e-4)


def moons(n):
    t = torch.rand(n) * 3.14159
    return torch.stack([t.cos(), t.sin()], 1) + 0.05 * torch.randn(n, 2)


def train_epoch(epoch):
    z = torch.randn(32, LATENT)
    fake = G(z)

    for _ in range(N_CRITIC):
        optC.zero_grad()
        c_loss = C(fake.detach()).mean() - C(moons(32)).mean()
        c_loss.backward()
        optC.step()
        for p in C.parameters():
            p.data.clamp_(-0.05, 0.05)

    g_loss = -C(fake).mean()
    optG.zero_grad()
    g_loss.backward()
    optG.step()
    return c_loss.item(), g_loss.item()


for epoch in range(5):
    c, g = train_epoch(epoch)
    print("epoch %d  critic %+.4f  generator %+.4f" % (epoch, c, g))
