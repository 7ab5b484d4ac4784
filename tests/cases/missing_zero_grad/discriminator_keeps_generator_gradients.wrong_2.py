import torch
from torch import nn

torch.manual_seed(1)


class GAN:
    def __init__(self, latent=4):
        self.latent = latent
        self.gen = nn.Sequential(nn.Linear(latent, 16), nn.ReLU(), nn.Linear(16, 2))
        self.dis = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
        self.opt_gen = torch.optim.Adam(self.gen.parameters(), lr=2e-3)
        self.opt_dis = torch.optim.Adam(self.dis.parameters(), lr=2e-3)
        self.bce = nn.BCEWithLogitsLoss()

    def sample(self, n):
        return self.gen(torch.randn(n, self.latent))

    def train_discriminator(self, real):
        n = len(real)
        loss = self.bce(self.dis(real), torch.ones(n, 1))
        loss = loss + self.bce(self.dis(self.sample(n).detach()), torch.zeros(n, 1))
        loss.backward()
        self.opt_dis.step()
        self.opt_dis.zero_grad()
        return loss.item()

    def train_generator(self, n):
        self.opt_gen.zero_grad()
        loss = self.bce(self.dis(self.sample(n)), torch.ones(n, 1))
        loss.backward()
        self.opt_gen.step()
        return loss.item()


gan = GAN()
for it in range(6):
    d = gan.train_discriminator(torch.randn(20, 2) * 0.2 + 1)
    g = gan.train_generator(20)
    print(f"{it} d={d:.3f} g={g:.3f}")
