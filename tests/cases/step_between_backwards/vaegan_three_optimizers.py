# expect: pattern = step-between-backwards
# expect: also = shared-subgraph, undetached-target
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified
# expect: carrier = loss_g, z, recon, x_rec, fake, decoder, mu, logvar, 0.weight, 2.weight, weight
# VAE-GAN: encoder, decoder and discriminator, each with its own optimizer and its own step.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, dim, latent):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(dim, 24), nn.ReLU())
        self.mu, self.logvar = nn.Linear(24, latent), nn.Linear(24, latent)

    def forward(self, x):
        h = self.body(x)
        return self.mu(h), self.logvar(h)


def mlp(i, h, o):
    return nn.Sequential(nn.Linear(i, h), nn.LeakyReLU(0.2), nn.Linear(h, o))


class VAEGAN:
    def __init__(self, dim=10, latent=4, lr=1e-3):
        self.encoder, self.decoder, self.disc = Encoder(dim, latent), mlp(latent, 24, dim), mlp(dim, 24, 1)
        self.opt = {
            name: torch.optim.Adam(getattr(self, name).parameters(), lr=lr)
            for name in ("encoder", "decoder", "disc")
        }

    def step(self, x):
        mu, logvar = self.encoder(x)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        x_rec = self.decoder(z)
        d_real, d_fake = self.disc(x), self.disc(x_rec.detach())
        loss_d = F.softplus(-d_real).mean() + F.softplus(d_fake).mean()
        rec = F.mse_loss(x_rec, x)
        kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).mean()
        loss_e = rec + kl
        loss_g = rec + 0.1 * F.softplus(-self.disc(x_rec)).mean()

        self.opt["disc"].zero_grad()
        loss_d.backward()
        self.opt["disc"].step()  # expect: place

        self.opt["encoder"].zero_grad()
        loss_e.backward(retain_graph=True)
        self.opt["encoder"].step()  # expect: place

        self.opt["decoder"].zero_grad()
        loss_g.backward()  # expect: place
        self.opt["decoder"].step()
        return {"d": loss_d.item(), "e": loss_e.item(), "g": loss_g.item()}


torch.manual_seed(23)
trainer = VAEGAN()
for i in range(3):
    print(i, trainer.step(torch.randn(16, 10)))
