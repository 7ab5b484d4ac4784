# The loss that is walked is the one that the meters have summed up.
import torch
import torch.nn as nn


class Meters:
    def __init__(self):
        self.sums, self.counts = {}, {}

    def update(self, key, loss, n=1):
        self.sums[key] = float(self.sums.get(key, 0.0)) + loss * n
        self.counts[key] = self.counts.get(key, 0) + n

    def average(self, key):
        return self.sums[key] / self.counts[key]


class BetaVAE(nn.Module):
    def __init__(self, dim=12, latent=3):
        super().__init__()
        self.enc = nn.Linear(dim, 2 * latent)
        self.dec = nn.Sequential(nn.Linear(latent, 16), nn.ReLU(), nn.Linear(16, dim))

    def losses(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        recon = (self.dec(z) - x).pow(2).sum(1).mean()
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
        return {"recon": recon, "kl": kl}


def train(model, batches, beta=2.0):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    meters = Meters()
    for i, x in enumerate(batches):
        for key, loss in model.losses(x).items():
            meters.update(key, loss)
        total = meters.average("recon") + beta * meters.average("kl")
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        print(i, {key: round(float(meters.average(key)), 3) for key in meters.sums})


torch.manual_seed(9)
train(BetaVAE(), torch.randn(40, 12).split(10))
