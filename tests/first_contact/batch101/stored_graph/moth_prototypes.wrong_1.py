"""Moths at a light trap, told apart by wing features; classes are means of embedded specimens.

Embedding the collection is slow, so its prototypes are renewed only every few updates.
"""
import torch
import torch.nn.functional as F
from torch import nn

SPECIES, FEATURES = 6, 20


def specimens(per_species, generator, centres):
    label = torch.arange(SPECIES).repeat_interleave(per_species)
    noise = torch.randn(len(label), FEATURES, generator=generator)
    return centres[label] + 0.8 * noise, label


class WingEncoder(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.first = nn.Linear(FEATURES, 48)
        self.last = nn.Linear(48, width)

    def forward(self, x):
        return F.normalize(self.last(F.gelu(self.first(x))), dim=1)


class PrototypeBank:
    def __init__(self, encoder, collection, labels, every=5):
        self.encoder, self.every = encoder, every
        self.collection, self.labels = collection, labels
        self.prototypes = None
        self.age = 0

    def renew(self):
        embedded = self.encoder(self.collection)
        means = [embedded[self.labels == s].mean(0) for s in range(SPECIES)]
        self.prototypes = F.normalize(torch.stack(means), dim=1)
        self.age = 0

    def read(self):
        if self.prototypes is None or self.age >= self.every:
            self.renew()
        self.age += 1
        return self.prototypes


def main():
    torch.manual_seed(12)
    generator = torch.Generator().manual_seed(12)
    centres = torch.randn(SPECIES, FEATURES, generator=generator)
    collection, names = specimens(10, generator, centres)
    catch, truth = specimens(60, generator, centres)
    encoder = WingEncoder()
    bank = PrototypeBank(encoder, collection, names)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=2e-3)
    for night in range(4):
        hits = 0
        for rows in torch.randperm(len(catch)).split(40):
            logits = encoder(catch[rows]) @ bank.read().T / 0.1
            loss = F.cross_entropy(logits, truth[rows])
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()
            hits += (logits.argmax(1) == truth[rows]).sum().item()
        print(f"night {night}: loss {loss.item():.3f}, right {hits / len(catch):.2f}")


main()
