"""Compresses woven patterns into a few thread codes (vector-quantised auto-encoder)."""

from typing import NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F


class Quantised(NamedTuple):
    codes: torch.Tensor
    latent: torch.Tensor
    index: torch.Tensor


class ThreadBook(nn.Module):
    """Replaces each latent vector by the nearest entry of a learned book."""

    def __init__(self, entries, width):
        super().__init__()
        self.codebook = nn.Embedding(entries, width)
        nn.init.uniform_(self.codebook.weight, -1.0, 1.0)

    def forward(self, latent):
        distance = torch.cdist(latent, self.codebook.weight)
        index = distance.argmin(dim=1)
        codes = self.codebook(index)
        # straight-through: the decoder's gradient goes on to the encoder
        codes = latent + (codes - latent).detach()
        return Quantised(codes, latent, index)


class LoomModel(nn.Module):
    def __init__(self, width=4, entries=12):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, width, bias=False), nn.BatchNorm1d(width)
        )
        self.book = ThreadBook(entries, width)
        self.decoder = nn.Sequential(nn.Linear(width, 24), nn.ReLU(), nn.Linear(24, 16))

    def forward(self, cloth):
        quantised = self.book(self.encoder(cloth))
        return self.decoder(quantised.codes), quantised


class LoomLoss:
    def __init__(self, commitment=0.25):
        self.commitment = commitment

    def __call__(self, woven, cloth, quantised):
        parts = {
            "weave": F.mse_loss(woven, cloth),
            "book": F.mse_loss(quantised.codes, quantised.latent),
            "commit": self.commitment * F.mse_loss(quantised.latent, quantised.codes.detach()),
        }
        return sum(parts.values()), parts


def cloths(count):
    """4 x 4 patches of stripes, checks and twills with some wear."""
    rows, cols = torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij")
    patterns = torch.stack(
        [(rows % 2).float(), (cols % 2).float(), ((rows + cols) % 2).float(), ((rows - cols) % 4 < 2).float()]
    )
    kind = torch.randint(len(patterns), (count,))
    return patterns[kind].flatten(1) + 0.1 * torch.randn(count, 16)


def usage(index, entries):
    share = torch.bincount(index, minlength=entries).float() / len(index)
    return (share > 0).sum().item()


def main():
    torch.manual_seed(29)
    data = cloths(160)
    model = LoomModel()
    criterion = LoomLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(4):
        sums = {"weave": 0.0, "book": 0.0, "commit": 0.0}
        for cloth in data[torch.randperm(len(data))].split(32):
            woven, quantised = model(cloth)
            loss, parts = criterion(woven, cloth, quantised)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            for name, part in parts.items():
                sums[name] += part.item()
        used = usage(quantised.index, model.book.codebook.num_embeddings)
        print(epoch, {name: round(value, 3) for name, value in sums.items()}, "entries in use:", used)


if __name__ == "__main__":
    main()
