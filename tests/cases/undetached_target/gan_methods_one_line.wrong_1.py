import torch
from torch import nn


class GAN:
    def __init__(self, latent=4, dim=6):
        self.latent = latent
        self.G = nn.Sequential(nn.Linear(latent, 12), nn.ReLU(), nn.Linear(12, dim))
        self.D = nn.Sequential(nn.Linear(dim, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))
        self.g_opt = torch.optim.Adam(self.G.parameters(), lr=2e-4)
        self.d_opt = torch.optim.Adam(self.D.parameters(), lr=2e-4)
        self.bce = nn.BCEWithLogitsLoss()

    def d_step(self, real, fake):
        self.d_opt.zero_grad()
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(fake), 1)
        loss = self.bce(self.D(real), ones) + self.bce(self.D(fake), zeros)
        loss.backward()
        self.d_opt.step()
        return loss

    def g_step(self, fake):
        self.g_opt.zero_grad()
        loss = self.bce(self.D(fake), torch.ones(len(fake), 1))
        loss.backward()
        self.g_opt.step()
        return loss

    def fit(self, data):
        for real in data:
            fake = self.G(torch.randn(len(real), self.latent)).detach()
            d, g = self.d_step(real, fake), self.g_step(fake)
            print(d.item(), g.item())


torch.manual_seed(0)
GAN().fit([torch.randn(8, 6) for _ in range(4)])
