"""Autoencoder with a patch discriminator; the adversarial term is weighted by gradient norms."""
import torch
import torch.nn as nn
import torch.nn.functional as F

CONFIG = {
    "model": {"ch": 8, "z": 4, "noise": 0.05},
    "loss": {"disc_start": 2, "disc_weight": 0.8},
    "train": {"steps": 8, "batch": 6, "lr": 2e-3, "seed": 23},
}


class AutoEncoder(nn.Module):
    def __init__(self, ch, z, noise):
        super().__init__()
        self.noise = noise
        self.encoder = nn.Sequential(nn.Conv2d(1, ch, 3, 2, 1), nn.SiLU(), nn.Conv2d(ch, z, 3, 1, 1))
        self.decoder = nn.Sequential(nn.ConvTranspose2d(z, ch, 4, 2, 1), nn.SiLU())
        self.conv_out = nn.Conv2d(ch, 1, 3, padding=1)

    def forward(self, x):
        z = self.encoder(x)
        z = z + self.noise * torch.randn_like(z)
        return self.conv_out(self.decoder(z))

    def last_layer(self):
        return self.conv_out.weight


class AEGANLoss(nn.Module):
    def __init__(self, disc_start, disc_weight):
        super().__init__()
        self.disc = nn.Sequential(nn.Conv2d(1, 8, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 4, 2, 1))
        self.disc_start, self.disc_weight = disc_start, disc_weight

    def adaptive_weight(self, nll_loss, g_loss, last_layer):
        nll_grads = torch.autograd.grad(nll_loss, last_layer, retain_graph=True)[0]
        g_grads = torch.autograd.grad(g_loss, last_layer, retain_graph=True)[0]
        weight = torch.norm(nll_grads) / (torch.norm(g_grads) + 1e-4)
        return self.disc_weight * torch.clamp(weight, 0.0, 1e4).detach()

    def generator(self, x, rec, step, last_layer):
        nll_loss = (x - rec).abs().mean() + 0.1 * (x - rec).pow(2).mean()
        if step < self.disc_start:
            return nll_loss, 0.0
        g_loss = -self.disc(rec).mean()
        weight = self.adaptive_weight(nll_loss, g_loss, last_layer)
        return nll_loss + weight * g_loss.detach(), weight.item()

    def discriminator(self, x, rec):
        return 0.5 * (F.relu(1 - self.disc(x)).mean() + F.relu(1 + self.disc(rec.detach())).mean())


def stripes(n):
    phase = torch.rand(n, 1, 1, 1) * 6
    return torch.sin(torch.arange(8.0).view(1, 1, 1, 8) * 1.3 + phase).expand(n, 1, 8, 8).contiguous()


def main(cfg):
    torch.manual_seed(cfg["train"]["seed"])
    model, criterion = AutoEncoder(**cfg["model"]), AEGANLoss(**cfg["loss"])
    opt_ae = torch.optim.Adam(model.parameters(), lr=cfg["train"]["lr"], betas=(0.5, 0.9))
    opt_disc = torch.optim.Adam(criterion.disc.parameters(), lr=cfg["train"]["lr"], betas=(0.5, 0.9))
    for step in range(cfg["train"]["steps"]):
        x = stripes(cfg["train"]["batch"])
        rec = model(x)
        ae_loss, weight = criterion.generator(x, rec, step, model.last_layer())
        opt_ae.zero_grad()
        ae_loss.backward()
        opt_ae.step()

        d_loss = criterion.discriminator(x, rec)
        opt_disc.zero_grad()
        d_loss.backward()
        opt_disc.step()
        print("step %d ae %.4f disc %.4f weight %.3f" % (step, ae_loss.item(), d_loss.item(), weight))


if __name__ == "__main__":
    main(CONFIG)
