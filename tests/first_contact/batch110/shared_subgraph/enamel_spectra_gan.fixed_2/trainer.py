import torch
from torch import nn

from nets import critic, painter


class GanTrainer:
    def __init__(self, noise, bands, lr=4e-3, smooth=0.9):
        self.noise, self.smooth = noise, smooth
        self.G, self.D = painter(noise, bands), critic(bands)
        betas = (0.5, 0.999)
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=lr, betas=betas)
        self.opt_d = torch.optim.Adam(self.D.parameters(), lr=lr, betas=betas)
        self.bce = nn.BCEWithLogitsLoss()

    def draw(self, n):
        return self.G(torch.randn(n, self.noise))

    def d_loss(self, real, fake):
        on_real, on_fake = self.D(real), self.D(fake)
        return (self.bce(on_real, torch.full_like(on_real, self.smooth))
                + self.bce(on_fake, torch.zeros_like(on_fake)))

    def g_loss(self, fake):
        on_fake = self.D(fake)
        return self.bce(on_fake, torch.ones_like(on_fake))

    def train_batch(self, real):
        fake = self.draw(len(real))

        self.opt_d.zero_grad()
        d_loss = self.d_loss(real, fake)
        d_loss.backward()
        self.opt_d.step()

        self.opt_g.zero_grad()
        g_loss = self.g_loss(self.draw(len(real)))
        g_loss.backward()
        self.opt_g.step()
        return {"D": d_loss.item(), "G": g_loss.item()}

    @torch.no_grad()
    def sample(self, n):
        self.G.eval()
        out = self.draw(n)
        self.G.train()
        return out
