# expect: pattern = none
"""WGAN with gradient penalty on two-channel heartbeats (2018 style). Nothing is detached for the critic."""
import torch
import torch.nn as nn
import torch.autograd as autograd

torch.manual_seed(4)
latent_dim, n_critic, lambda_gp = 6, 3, 10

generator = nn.Sequential(nn.Linear(latent_dim, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2 * 16), nn.Tanh())
discriminator = nn.Sequential(nn.Linear(2 * 16, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
optimizer_G = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.9))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.9))


def beats(n):
    t = torch.linspace(-1, 1, 16)
    centre = 0.2 * torch.randn(n, 1)
    lead1 = torch.exp(-((t - centre) / 0.15) ** 2)
    lead2 = 0.5 * torch.exp(-((t - centre - 0.3) / 0.25) ** 2)
    return torch.cat([lead1, lead2], 1)


def compute_gradient_penalty(D, real_samples, fake_samples):
    alpha = torch.rand(real_samples.size(0), 1)
    interpolates = (alpha * real_samples + ((1 - alpha) * fake_samples)).requires_grad_(True)
    d_interpolates = D(interpolates)
    gradients = autograd.grad(
        outputs=d_interpolates,
        inputs=interpolates,
        grad_outputs=torch.ones_like(d_interpolates),
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


batches_done = 0
for epoch in range(2):
    for i in range(9):
        real_imgs = beats(16)

        optimizer_D.zero_grad()
        z = torch.randn(16, latent_dim)
        fake_imgs = generator(z)
        gradient_penalty = compute_gradient_penalty(discriminator, real_imgs.data, fake_imgs.data)
        d_loss = -discriminator(real_imgs).mean() + discriminator(fake_imgs).mean() + lambda_gp * gradient_penalty
        d_loss.backward()
        optimizer_D.step()

        optimizer_G.zero_grad()
        if i % n_critic == 0:
            fake_imgs = generator(z)
            g_loss = -discriminator(fake_imgs).mean()
            g_loss.backward()
            optimizer_G.step()
            print("[Epoch %d] [Batch %d] [D loss: %f] [G loss: %f]" % (epoch, i, d_loss.item(), g_loss.item()))
            batches_done += n_critic
