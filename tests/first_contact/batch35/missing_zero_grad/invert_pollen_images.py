# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = D, optimizer_D, d_loss, encoder
"""Train an encoder that inverts a frozen generator of pollen grain images; a discriminator keeps inversions crisp.

Inversions never get any crisper, whatever w_adv I take.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class G(nn.Module):
    def __init__(self, z_dim=8):
        super().__init__()
        self.fc = nn.Linear(z_dim, 16 * 4 * 4)
        self.up1 = nn.ConvTranspose2d(16, 8, 4, 2, 1)
        self.up2 = nn.ConvTranspose2d(8, 1, 4, 2, 1)

    def forward(self, z):
        x = F.leaky_relu(self.fc(z).view(-1, 16, 4, 4), 0.2)
        return torch.tanh(self.up2(F.leaky_relu(self.up1(x), 0.2)))


def conv_tower(out):
    return nn.Sequential(
        nn.Conv2d(1, 8, 4, 2, 1), nn.LeakyReLU(0.2),
        nn.Conv2d(8, 16, 4, 2, 1), nn.LeakyReLU(0.2),
        nn.Flatten(), nn.Linear(16 * 4 * 4, out),
    )


def d_regularisation(logits, images):
    g, = torch.autograd.grad(logits.sum(), images, create_graph=True)
    return g.pow(2).sum([1, 2, 3]).mean()


def training_loop(iterations=24, batch=12, w_rec=1.0, w_adv=0.08, w_feat=0.2, r1_gamma=0.5):
    generator = G()
    for p in generator.parameters():
        p.requires_grad_(False)
    perceptual = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU())
    perceptual.requires_grad_(False)

    E, D = conv_tower(8), conv_tower(1)
    optimizer_E = torch.optim.Adam(E.parameters(), lr=1e-3, betas=(0.9, 0.99))
    optimizer_D = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.9, 0.99))
    generator_scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer_E, 0.99)
    discriminator_scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer_D, 0.99)

    for it in range(iterations):
        real = generator(torch.randn(batch, 8)) + 0.05 * torch.randn(batch, 1, 16, 16)

        # encoder
        inverted = generator(E(real))
        e_loss = (
            w_rec * F.mse_loss(inverted, real)
            + w_feat * F.mse_loss(perceptual(inverted), perceptual(real))
            + w_adv * F.softplus(-D(inverted)).mean()
        )
        optimizer_E.zero_grad()
        e_loss.backward()
        optimizer_E.step()

        # discriminator
        real = real.detach().requires_grad_(True)
        with torch.no_grad():
            inverted = generator(E(real))
        real_logits = D(real)
        d_loss = F.softplus(D(inverted)).mean() + F.softplus(-real_logits).mean()
        d_loss = d_loss + r1_gamma / 2 * d_regularisation(real_logits, real)
        d_loss.backward()  # expect: place
        optimizer_D.step()  # expect: place

        generator_scheduler.step()
        discriminator_scheduler.step()
        if it % 6 == 0:
            print(f"iter {it:3d}  e_loss {e_loss.item():.4f}  d_loss {d_loss.item():.4f}")


torch.manual_seed(20)
training_loop()
