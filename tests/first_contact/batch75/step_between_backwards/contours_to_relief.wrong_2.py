"""pix2pix in small: contour drawings in, shaded relief out."""
import torch
import torch.nn as nn


class UNetSmall(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 8, 4, 2, 1), nn.LeakyReLU(0.2))
        self.mid = nn.Sequential(nn.Conv2d(8, 8, 3, 1, 1), nn.ReLU())
        self.up = nn.ConvTranspose2d(16, 1, 4, 2, 1)

    def forward(self, x):
        d = self.down(x)
        return torch.tanh(self.up(torch.cat([d, self.mid(d)], dim=1)))


class PatchD(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(2, 8, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 3, 1, 1))

    def forward(self, x):
        return self.net(x)


class Pix2Pix:
    def __init__(self, lr=2e-3, lambda_l1=10.0):
        self.netG, self.netD = UNetSmall(), PatchD()
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=lr, betas=(0.5, 0.999))
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=lr, betas=(0.5, 0.999))
        self.gan_loss, self.l1 = nn.BCEWithLogitsLoss(), nn.L1Loss()
        self.lambda_l1 = lambda_l1

    def set_input(self, batch):
        self.real_A, self.real_B = batch

    def optimize_parameters(self):
        fake_B = self.netG(self.real_A)
        pred_fake = self.netD(torch.cat([self.real_A, fake_B], 1))
        pred_real = self.netD(torch.cat([self.real_A, self.real_B], 1))
        loss_D = 0.5 * (self.gan_loss(pred_fake, torch.zeros_like(pred_fake))
                        + self.gan_loss(pred_real, torch.ones_like(pred_real)))
        self.optimizer_D.zero_grad()
        loss_D.backward(retain_graph=True)
        self.optimizer_D.step()

        loss_G = self.gan_loss(pred_fake.detach(), torch.ones_like(pred_fake)) + self.lambda_l1 * self.l1(fake_B, self.real_B)
        self.optimizer_G.zero_grad()
        loss_G.backward()
        self.optimizer_G.step()
        return loss_D.item(), loss_G.item()


def terrain(n, size=16):
    g = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    cx, cy, w = (torch.rand(3, n, 1, 1) - 0.5).unbind(0)
    height = torch.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (0.2 + w.abs()))
    contours = (torch.remainder(height * 6, 1.0) < 0.25).float()
    relief = height.diff(dim=2, prepend=height[:, :, :1]) * 6
    return contours[:, None], relief.clamp(-1, 1)[:, None]


torch.manual_seed(8)
model = Pix2Pix()
for step in range(12):
    model.set_input(terrain(8))
    loss_d, loss_g = model.optimize_parameters()
    if step % 4 == 3:
        print(f"step {step} D {loss_d:.3f} G {loss_g:.3f}")
