# expect: pattern = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = mu, z, h, features, stats, logvar, recon, x_hat
# The terms of the objective come from a generator, and each is walked as it comes.
import torch
import torch.nn.functional as F
from torch import nn


class InfoVAE(nn.Module):
    def __init__(self, d=8, k=3):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, 16), nn.ReLU(), nn.Linear(16, 2 * k))
        self.dec = nn.Sequential(nn.Linear(k, 16), nn.ReLU(), nn.Linear(16, d))

    def terms(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)  # expect: place
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        yield "recon", F.mse_loss(self.dec(z), x)
        yield "kl", -0.5 * (1 + logvar - mu**2 - logvar.exp()).mean()  # expect: place
        yield "spread", (z.std(0) - 1).pow(2).mean()  # expect: place


def train(model, data, epochs=2):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        for x in data:
            optimizer.zero_grad()
            report = {}
            for name, term in model.terms(x):  # expect: place
                term.backward()  # expect: place
                report[name] = round(term.item(), 4)
            optimizer.step()
        print(epoch, report)


torch.manual_seed(0)
train(InfoVAE(), torch.randn(30, 8).split(10))
