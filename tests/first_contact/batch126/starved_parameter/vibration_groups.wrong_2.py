"""Compress vibration windows of a gearbox into four code words each."""
from collections import namedtuple

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(5)
Packed = namedtuple("Packed", "latent parts words index")


class Book(nn.Module):
    def __init__(self, entries, width):
        super().__init__()
        self.table = nn.Embedding(entries, width)
        nn.init.uniform_(self.table.weight, -0.2, 0.2)

    def forward(self, part):
        index = torch.cdist(part, self.table.weight).argmin(-1)
        word = self.table(index)
        return part + (word - part), index


class Codec(nn.Module):
    def __init__(self, window=48, width=16, groups=4, entries=12):
        super().__init__()
        self.groups = groups
        self.encoder = nn.Sequential(nn.Linear(window, 40), nn.ReLU(), nn.Linear(40, width))
        self.books = nn.ModuleList(Book(entries, width // groups) for _ in range(groups))
        self.decoder = nn.Sequential(nn.Linear(width, 40), nn.ReLU(), nn.Linear(40, window))

    def pack(self, signal):
        parts = self.encoder(signal).chunk(self.groups, dim=-1)
        words, index = zip(*(book(part) for book, part in zip(self.books, parts)))
        return Packed(torch.cat(words, dim=-1), parts, words, torch.stack(index, -1))

    def forward(self, signal):
        packed = self.pack(signal)
        return self.decoder(packed.latent), packed


class CodecLoss(nn.Module):
    def __init__(self, commit=0.25):
        super().__init__()
        self.commit = commit

    def forward(self, out, signal, packed):
        terms = {"shape": F.mse_loss(out, signal), "book": 0.0, "commit": 0.0}
        for part, word in zip(packed.parts, packed.words):
            terms["book"] = terms["book"] + F.mse_loss(word, part.detach())
            terms["commit"] = terms["commit"] + self.commit * F.mse_loss(part, word.detach())
        return sum(terms.values()), terms


def windows(count, generator):
    t = torch.linspace(0, 1, 48)
    speed = 2 + 6 * torch.rand(count, 1, generator=generator)
    phase = 6.28 * torch.rand(count, 1, generator=generator)
    return torch.sin(6.28 * speed * t + phase) + 0.3 * torch.sin(18.8 * speed * t)


def main():
    generator = torch.Generator().manual_seed(9)
    codec, criterion = Codec(), CodecLoss()
    optimizer = torch.optim.Adam(codec.parameters(), lr=2e-3)
    for step in range(60):
        signal = windows(64, generator)
        out, packed = codec(signal)
        loss, terms = criterion(out, signal, packed)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(step, " ".join(f"{name} {value.item():.4f}" for name, value in terms.items()))


main()
