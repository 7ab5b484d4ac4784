# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = g_loss, g_grads
"""Compress photographs of woven fabric; the weight of the GAN term follows from the gradients at the last layer."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def hinge_d_loss(logits_real, logits_fake):
    return 0.5 * (F.relu(1. - logits_real).mean() + F.relu(1. + logits_fake).mean())


class FabricAE(nn.Module):
    def __init__(self, ch=12, z=4):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, ch, 4, 2, 1), nn.SiLU(), nn.Conv2d(ch, z, 4, 2, 1))
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(z, ch, 4, 2, 1), nn.SiLU(), nn.ConvTranspose2d(ch, ch, 4, 2, 1), nn.SiLU())
        self.conv_out = nn.Conv2d(ch, 1, 3, padding=1)

    def forward(self, x):
        return torch.tanh(self.conv_out(self.decoder(self.encoder(x))))

    def get_last_layer(self):
        return self.conv_out.weight


class ReconWithDiscriminator(nn.Module):
    def __init__(self, disc_start, disc_weight=0.8):
        super().__init__()
        self.discriminator = nn.Sequential(
            nn.Conv2d(1, 12, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(12, 1, 3, padding=1))
        self.discriminator_iter_start = disc_start
        self.discriminator_weight = disc_weight

    def calculate_adaptive_weight(self, nll_loss, g_loss, last_layer):
        nll_grads = torch.autograd.grad(nll_loss, last_layer, retain_graph=True)[0]
        g_grads = torch.autograd.grad(g_loss, last_layer)[0]  # expect: place
        d_weight = torch.norm(nll_grads) / (torch.norm(g_grads) + 1e-4)
        d_weight = torch.clamp(d_weight, 0.0, 1e4).detach()
        return d_weight * self.discriminator_weight

    def forward(self, inputs, reconstructions, optimizer_idx, global_step, last_layer=None):
        if optimizer_idx == 0:
            nll_loss = torch.abs(inputs - reconstructions).mean()
            g_loss = -self.discriminator(reconstructions).mean()
            if global_step < self.discriminator_iter_start:
                return nll_loss
            d_weight = self.calculate_adaptive_weight(nll_loss, g_loss, last_layer)  # expect: place
            return nll_loss + d_weight * g_loss
        logits_real = self.discriminator(inputs.detach())
        logits_fake = self.discriminator(reconstructions.detach())
        return hinge_d_loss(logits_real, logits_fake)


def swatches(n, size=16):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    period = torch.randint(2, 5, (n, 1, 1))
    weave = ((xx // period + yy // period) % 2).float() * 2 - 1
    return (0.8 * weave + 0.1 * torch.randn(n, size, size)).unsqueeze(1).clamp(-1, 1)


def fit(steps=14, lr=2e-3):
    model, criterion = FabricAE(), ReconWithDiscriminator(disc_start=5)
    opt_ae = torch.optim.Adam(model.parameters(), lr=lr, betas=(0.5, 0.9))
    opt_disc = torch.optim.Adam(criterion.discriminator.parameters(), lr=lr, betas=(0.5, 0.9))
    for global_step in range(steps):
        x = swatches(8)
        xrec = model(x)
        aeloss = criterion(x, xrec, 0, global_step, last_layer=model.get_last_layer())
        opt_ae.zero_grad()
        aeloss.backward()  # expect: place
        opt_ae.step()

        discloss = criterion(x, xrec, 1, global_step)
        opt_disc.zero_grad()
        discloss.backward()
        opt_disc.step()
        if global_step % 2 == 0:
            print(f"step {global_step} ae {aeloss.item():.4f} disc {discloss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(23)
    fit()
