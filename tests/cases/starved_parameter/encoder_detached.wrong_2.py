import torch
from torch import nn, optim
import torch.nn.functional as F

torch.manual_seed(0)


class VAE(nn.Module):
    def __init__(self, dim=12, latent=3):
        super().__init__()
        self.enc = nn.Linear(dim, 20)
        self.mu, self.logvar = nn.Linear(20, latent), nn.Linear(20, latent)
        self.dec = nn.Sequential(nn.Linear(latent, 20), nn.ReLU(), nn.Linear(20, dim))

    def forward(self, x):
        h = F.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = (mu.detach() + torch.randn_like(mu) * (0.5 * logvar).exp()).detach()
        return self.dec(z)


vae = VAE()
opt = optim.Adam(vae.parameters(), lr=1e-2)
basis = torch.randn(2, 12)
for step in range(6):
    x = torch.randn(32, 2) @ basis
    loss = F.mse_loss(vae(x), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
