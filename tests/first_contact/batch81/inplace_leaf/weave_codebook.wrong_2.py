"""A small dictionary of weaves: patches of old cloth are coded, unused words are started anew."""
from typing import NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F


class Coded(NamedTuple):
    z_q: torch.Tensor
    index: torch.Tensor
    loss: torch.Tensor


class Quantizer(nn.Module):
    def __init__(self, n_words, width, commitment=0.25):
        super().__init__()
        self.codebook = nn.Embedding(n_words, width)
        nn.init.uniform_(self.codebook.weight, -4.0, 4.0)
        self.register_buffer("used", torch.zeros(n_words))
        self.commitment = commitment

    def forward(self, z):
        distance = torch.cdist(z, self.codebook.weight)
        index = distance.argmin(dim=1)
        if self.training:
            self.used += torch.bincount(index, minlength=len(self.used))
        words = self.codebook(index)
        loss = F.mse_loss(words, z.detach()) + self.commitment * F.mse_loss(z, words.detach())
        return Coded(z + (words - z).detach(), index, loss)

    def restart_unused(self, z, generator):
        dead = (self.used == 0).nonzero().squeeze(1)
        if len(dead):
            pick = torch.randint(len(z), (len(dead),), generator=generator)
            weight = self.codebook.weight.detach().clone()
            weight[dead] = z[pick].detach()
            self.codebook.weight = nn.Parameter(weight)
        self.used.zero_()
        return len(dead)


class ClothCoder(nn.Module):
    def __init__(self, pixels=36, width=4, n_words=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, 32), nn.ReLU(), nn.Linear(32, width))
        self.quantizer = Quantizer(n_words, width)
        self.decoder = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, pixels))

    def forward(self, patch):
        coded = self.quantizer(self.encoder(patch))
        return self.decoder(coded.z_q), coded


def patches(n, generator):
    kind = torch.randint(3, (n,), generator=generator)
    warp = torch.zeros(3, 6, 6)
    warp[0, ::2] = 1
    warp[1] = torch.eye(6) + torch.eye(6).roll(3, 1)
    warp[2, :3, :3] = 1
    return (warp[kind] + 0.2 * torch.randn(n, 6, 6, generator=generator)).flatten(1)


def train():
    torch.manual_seed(4)
    generator = torch.Generator().manual_seed(4)
    cloth = patches(96, generator)
    model = ClothCoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(8):
        for batch in cloth.split(32):
            output, coded = model(batch)
            loss = F.mse_loss(output, batch) + coded.loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            z = model.encoder(cloth)
        anew = 0
        if epoch % 2 == 1:
            anew = model.quantizer.restart_unused(z, generator)
        print(f"epoch {epoch}: loss {loss.item():.4f}, {anew} words anew")


train()
