import torch
import torch.nn as nn

torch.manual_seed(11)

# ---- config
SIG_LEN = 32
LATENT = 6
BATCH = 24
G_PER_D = 3
N_BATCHES = 12

# ---- fake "radar pulse" data set
gen = torch.Generator().manual_seed(0)
t = torch.linspace(0, 1, SIG_LEN)
center = 0.3 + 0.4 * torch.rand(BATCH * N_BATCHES, 1, generator=gen)
width = 0.05 + 0.05 * torch.rand(BATCH * N_BATCHES, 1, generator=gen)
pulses = torch.exp(-((t - center) / width) ** 2)
loader = torch.utils.data.DataLoader(pulses, batch_size=BATCH)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(LATENT, 48), nn.LeakyReLU(0.2), nn.Linear(48, SIG_LEN), nn.Sigmoid())

    def forward(self, z):
        return self.body(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(SIG_LEN, 48), nn.LeakyReLU(0.2), nn.Linear(48, 24), nn.LeakyReLU(0.2))
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        f = self.features(x)
        return self.out(f).squeeze(1), f


netG = Generator()
netD = Discriminator()
bce = nn.BCEWithLogitsLoss()
mse = nn.MSELoss()
optG = torch.optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999))
optD = torch.optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.999))

for epoch in range(2):
    for it, real in enumerate(loader):
        ones = torch.ones(real.size(0))
        zeros = torch.zeros(real.size(0))

        # the generator is weaker, it gets more updates
        for _ in range(G_PER_D):
            optG.zero_grad()
            z = torch.randn(real.size(0), LATENT)
            fake = netG(z)
            fake_logit, fake_feats = netD(fake)
            _, real_feats = netD(real)
            adv = bce(fake_logit, ones)
            fm = mse(fake_feats.mean(0), real_feats.mean(0).detach())
            smooth = (fake[:, 1:] - fake[:, :-1]).abs().mean()
            g_loss = adv + 5.0 * fm + 0.1 * smooth
            g_loss.backward()
            optG.step()

        # discriminator
        optD.zero_grad()
        real_logit, _ = netD(real)
        with torch.no_grad():
            fake = netG(torch.randn(real.size(0), LATENT))
        fake_logit, _ = netD(fake)
        d_loss = 0.5 * (bce(real_logit, 0.9 * ones) + bce(fake_logit, zeros))
        d_loss.backward()
        optD.step()

        if it % 4 == 0:
            print("[%d/%d] D %.3f  G %.3f (adv %.3f fm %.3f)" % (epoch, it, d_loss.item(), g_loss.item(), adv.item(), fm.item()))
