"""VQ-VAE on 1-D signals; the straight-through estimator copies gradients past the codebook."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Quantizer(nn.Module):
    def __init__(self, codes=12, d=4):
        super().__init__()
        self.codebook = nn.Embedding(codes, d)
        nn.init.uniform_(self.codebook.weight, -1, 1)

    def forward(self, z):
        flat = z.reshape(-1, z.size(-1))
        index = torch.cdist(flat, self.codebook.weight).argmin(1)
        q = self.codebook(index).view_as(z)
        loss = F.mse_loss(q, z.detach())
        q = z + (q - z).detach()
        return q, loss, index


class Autoencoder(nn.Module):
    def __init__(self, d=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv1d(1, 12, 4, stride=2, padding=1), nn.ReLU(),
                                     nn.Conv1d(12, d, 4, stride=2, padding=1))
        self.quantizer = Quantizer(d=d)
        self.decoder = nn.Sequential(nn.ConvTranspose1d(d, 12, 4, stride=2, padding=1), nn.ReLU(),
                                     nn.ConvTranspose1d(12, 1, 4, stride=2, padding=1))

    def forward(self, x):
        z = self.encoder(x).transpose(1, 2)
        q, vq, index = self.quantizer(z)
        return self.decoder(q.transpose(1, 2)), vq, index


def perplexity(index, codes=12):
    p = F.one_hot(index, codes).float().mean(0)
    return (-(p * (p + 1e-9).log()).sum()).exp().item()


def waves(n, length=32):
    t = torch.linspace(0, 1, length)
    f = torch.randint(1, 4, (n, 1))
    return torch.sin(2 * math.pi * (f * t + torch.rand(n, 1)))[:, None]


if __name__ == "__main__":
    torch.manual_seed(90)
    model = Autoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for it in range(12):
        x = waves(16)
        out, vq, index = model(x)
        loss = F.mse_loss(out, x) + vq
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 4 == 3:
            print(it, f"loss {loss.item():.4f} perplexity {perplexity(index):.2f}")
