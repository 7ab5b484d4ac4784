import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class AverageMeter:
    """Computes and stores the average and current value"""

    def __init__(self, name, fmt=".4f"):
        self.name, self.fmt = name, fmt
        self.reset()

    def reset(self):
        self.val = 0
        self.sum = 0
        self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n

    @property
    def avg(self):
        return self.sum / self.count

    def __str__(self):
        return f"{self.name} {float(self.avg):{self.fmt}}"


class VAE(nn.Module):
    def __init__(self, n_in=24, n_hidden=32, n_latent=3):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(n_in, n_hidden), nn.ReLU())
        self.mu, self.logvar = nn.Linear(n_hidden, n_latent), nn.Linear(n_hidden, n_latent)
        self.dec = nn.Sequential(
            nn.Linear(n_latent, n_hidden), nn.ReLU(), nn.Linear(n_hidden, n_in)
        )

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


def vibration(n, length=24):
    t = torch.arange(length) / length
    freq = torch.randint(1, 4, (n, 1))
    return torch.sin(2 * math.pi * (freq * t + torch.rand(n, 1))) + 0.1 * torch.randn(n, length)


def train(loader, model, optimizer, epoch, beta=0.1):
    meters = {k: AverageMeter(k) for k in ("loss", "recon", "kld")}
    model.train()
    for (x,) in loader:
        x_hat, mu, logvar = model(x)
        recon = F.mse_loss(x_hat, x)
        kld = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
        kld = kld.detach()
        loss = recon + beta * kld

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        meters["loss"].update(loss.item(), x.size(0))
        meters["recon"].update(recon.item(), x.size(0))
        meters["kld"].update(kld, x.size(0))
    print(f"Epoch {epoch}:", "  ".join(map(str, meters.values())))


if __name__ == "__main__":
    torch.manual_seed(64)
    loader = DataLoader(TensorDataset(vibration(640)), batch_size=16, shuffle=True)
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(3):
        train(loader, model, optimizer, epoch)
