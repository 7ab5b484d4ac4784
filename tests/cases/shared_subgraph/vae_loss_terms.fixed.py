import torch
import torch.nn as nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self, n_in=10, n_z=3):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(n_in, 20), nn.ReLU())
        self.mu, self.logvar = nn.Linear(20, n_z), nn.Linear(20, n_z)
        self.dec = nn.Sequential(nn.Linear(n_z, 20), nn.ReLU(), nn.Linear(20, n_in))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


def backward_all(losses):
    sum(losses.values()).backward()


torch.manual_seed(2)
vae = VAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=2e-3)
data = torch.rand(4, 16, 10)
for epoch in range(2):
    for x in data:
        recon, mu, logvar = vae(x)
        losses = {
            "recon": F.mse_loss(recon, x, reduction="sum") / len(x),
            "kl": -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum(1).mean(),
        }
        optimizer.zero_grad()
        backward_all(losses)
        optimizer.step()
