import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(42)
device = torch.device("cpu")

# hyperparameters
latent_dim = 16
img_size = 8 * 8
batch_size = 32
total_epochs = 3
g_update_factor = 3   # generator updates
d_update_factor = 1   # discriminator updates


def make_blobs(n):
    """8x8 'digits': a bright blob at one of four places, flattened later"""
    centers = torch.tensor([[2., 2.], [2., 5.], [5., 2.], [5., 5.]])
    yy, xx = torch.meshgrid(torch.arange(8.), torch.arange(8.), indexing="ij")
    c = centers[torch.randint(0, 4, (n,))] + 0.3 * torch.randn(n, 2)
    d2 = (yy[None] - c[:, 0, None, None]) ** 2 + (xx[None] - c[:, 1, None, None]) ** 2
    return 2 * torch.exp(-d2 / 2.0) - 1


dataset = torch.utils.data.TensorDataset(make_blobs(256), torch.zeros(256))
data_stream = torch.utils.data.DataLoader(dataset, batch_size=batch_size, shuffle=True)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(latent_dim, 64), nn.LeakyReLU(0.2),
            nn.Linear(64, 128), nn.LeakyReLU(0.2),
            nn.Linear(128, img_size), nn.Tanh(),
        )

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(img_size, 128), nn.LeakyReLU(0.2),
            nn.Linear(128, 1), nn.Sigmoid(),
        )

    def forward(self, x):
        return self.main(x)


netG = Generator().to(device)
netD = Discriminator().to(device)
optG = optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
optD = optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
bce_loss = nn.BCELoss()

for epoch in range(total_epochs):
    for batch_id, (real_batch, _) in enumerate(data_stream):
        real_batch = real_batch.view(-1, img_size).to(device)
        bsz = real_batch.shape[0]

        # ---- train generator ----
        for _ in range(g_update_factor):
            z = torch.randn(bsz, latent_dim, device=device)
            fake_batch = netG(z)
            gen_scores = netD(fake_batch).view(-1)
            g_loss = bce_loss(gen_scores, torch.ones_like(gen_scores))
            optG.zero_grad()
            g_loss.backward()
            optG.step()

        # ---- train discriminator ----
        for _ in range(d_update_factor):
            real_scores = netD(real_batch).view(-1)
            fake_scores = netD(fake_batch).view(-1)
            d_loss_real = bce_loss(real_scores, torch.ones_like(real_scores))
            d_loss_fake = bce_loss(fake_scores, torch.zeros_like(fake_scores))
            d_loss = (d_loss_real + d_loss_fake.detach()) / 2
            optD.zero_grad()
            d_loss.backward()
            optD.step()

    print("epoch %d  g_loss %.4f  d_loss %.4f" % (epoch, g_loss.item(), d_loss.item()))
