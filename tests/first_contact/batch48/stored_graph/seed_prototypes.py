# expect: pattern = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = centres
"""Sorting weed seeds by shape: nearest-prototype classifier whose prototypes are
moving averages of the embeddings seen so far."""
import torch
from torch import nn
import torch.nn.functional as F

SPECIES = ("chenopodium", "galium", "polygonum", "stellaria")


class SeedEncoder(nn.Module):
    def __init__(self, n_features=10, dim=6):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_features, 24), nn.LayerNorm(24), nn.GELU(), nn.Linear(24, dim)
        )

    def forward(self, x):
        return F.normalize(self.body(x), dim=1)


class PrototypeBook:
    def __init__(self, n_species, dim, keep=0.8):
        self.keep = keep
        self.centres = [torch.zeros(dim) for _ in range(n_species)]
        self.seen = [False] * n_species

    def fold_in(self, emb, species):
        for s in species.unique().tolist():
            fresh = emb[species == s].mean(0)
            if self.seen[s]:
                fresh = self.keep * self.centres[s] + (1 - self.keep) * fresh  # expect: place
            self.centres[s] = fresh  # expect: place
            self.seen[s] = True

    def score(self, emb, sharpness=6.0):
        return -sharpness * torch.cdist(emb, torch.stack(self.centres)).square()


def trays(n_trays, per_tray, seed):
    g = torch.Generator().manual_seed(seed)
    shape = torch.randn(len(SPECIES), 10, generator=g)
    for _ in range(n_trays):
        species = torch.randint(0, len(SPECIES), (per_tray,), generator=g)
        yield shape[species] + 0.9 * torch.randn(per_tray, 10, generator=g), species


def train():
    torch.manual_seed(17)
    encoder = SeedEncoder()
    book = PrototypeBook(len(SPECIES), 6)
    opt = torch.optim.Adam(encoder.parameters(), lr=4e-3)
    right = total = 0
    for n, (seeds, species) in enumerate(trays(15, 32, seed=1)):
        emb = encoder(seeds)
        book.fold_in(emb, species)
        logits = book.score(emb)
        cost = F.cross_entropy(logits, species)
        opt.zero_grad()
        cost.backward()  # expect: place
        opt.step()
        right += (logits.argmax(1) == species).sum().item()
        total += len(species)
        if n % 5 == 4:
            print(f"tray {n + 1}: cost {cost.item():.3f}, sorted right {right / total:.2%}")
            right = total = 0
    return encoder, book


if __name__ == "__main__":
    train()
