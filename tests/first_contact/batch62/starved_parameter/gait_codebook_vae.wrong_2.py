


"""VQ-VAE over short gait segments (three-axis accelerometer)."""
from itertools import islice

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)

CODES, DIM, BETA = 16, 8, 0.25


def segments(batch=16, length=24):
    t = torch.arange(length) / 10
    while True:
        pace = torch.randint(1, 4, (batch, 1)).float()
        shift = torch.rand(batch, 1) * 3
        axes = [torch.sin(pace * t + shift), torch.cos(2 * pace * t), 0.3 * torch.sin(4 * t + shift)]
        yield torch.stack(axes, dim=1) + 0.05 * torch.randn(batch, 3, length)


def conv_stack(*sizes, up=False):
    make = nn.ConvTranspose1d if up else nn.Conv1d
    layers = [[make(a, b, 4, stride=2, padding=1), nn.ReLU()] for a, b in zip(sizes, sizes[1:])]
    return nn.Sequential(*[m for pair in layers for m in pair][:-1])


class Quantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.codebook = nn.Embedding(CODES, DIM)
        nn.init.uniform_(self.codebook.weight, -0.5, 0.5)

    @torch.no_grad()
    def nearest(self, flat):
        """Distances to all codes; batch * frames rows, so the matrix is large."""
        dist = (flat.square().sum(1, keepdim=True)
                - 2 * flat @ self.codebook.weight.T
                + self.codebook.weight.square().sum(1))
        idx = dist.argmin(dim=1)
        return idx, self.codebook(idx)

    def forward(self, z):
        flat = z.transpose(1, 2).reshape(-1, DIM)
        idx, codes = self.nearest(flat)
        quant = codes.view(z.shape[0], -1, DIM).transpose(1, 2)
        pull = F.mse_loss(quant, z.detach()) + BETA * F.mse_loss(z, quant.detach())
        usage = torch.bincount(idx, minlength=CODES).float() / idx.numel()
        perplexity = torch.exp(-(usage * (usage + 1e-9).log()).sum())
        return z + (quant - z.detach()), pull, perplexity


class GaitVQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = conv_stack(3, 24, DIM)
        self.quantize = Quantizer()
        self.decode = conv_stack(DIM, 24, 3, up=True)

    def forward(self, x):
        q, pull, perplexity = self.quantize(self.encode(x))
        return self.decode(q), pull, perplexity


def train(steps=11):
    model = GaitVQ()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step, x in enumerate(islice(segments(), steps)):
        recon, pull, perplexity = model(x)
        rec = F.mse_loss(recon, x)
        opt.zero_grad()
        (rec + pull).backward()
        opt.step()
        if step % 5 == 0:
            print(f"{step:3d} rec {rec.item():.4f} vq {pull.item():.4f} perplexity {perplexity.item():.1f}")
    return model


if __name__ == "__main__":
    train()
