import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim

MIN_STD = 0.05


class VAE(nn.Module):
    def __init__(self, bands=40, hidden=32, latent=3):
        super().__init__()
        self.fc1 = nn.Linear(bands, hidden)
        self.fc_mu = nn.Linear(hidden, latent)
        self.fc_logvar = nn.Linear(hidden, latent)
        self.fc3 = nn.Linear(latent, hidden)
        self.fc4 = nn.Linear(hidden, bands)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.fc_mu(h), self.fc_logvar(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        std.data += MIN_STD
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def loss_function(recon_x, x, mu, logvar, beta=0.05):
    rec = F.mse_loss(recon_x, x, reduction="sum") / len(x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / len(x)
    return rec + beta * kld


def honey(n, rng):
    """Near infrared absorbance: a water band and two sugar bands of changing depth."""
    wl = np.linspace(0, 1, 40)
    out = np.zeros((n, 40), dtype=np.float32)
    for centre, width in ((0.2, 0.05), (0.55, 0.1), (0.8, 0.07)):
        out += rng.uniform(0.1, 0.8, (n, 1)) * np.exp(-((wl - centre) / width) ** 2)
    return torch.from_numpy(out.clip(0, 1).astype(np.float32))


def main():
    torch.manual_seed(7)
    data = honey(256, np.random.default_rng(7))
    model = VAE()
    optimizer = optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(1, 4):
        total = 0.0
        for x in data[torch.randperm(len(data))].split(32):
            optimizer.zero_grad()
            recon, mu, logvar = model(x)
            loss = loss_function(recon, x, mu, logvar)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print("====> Epoch: {} Average loss: {:.4f}".format(epoch, total / 8))


main()
