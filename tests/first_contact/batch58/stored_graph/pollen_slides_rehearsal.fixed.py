"""Pollen grains from honey, one apiary after the other (domain-incremental).

The apiaries come in sequence; a small almanac of earlier grains keeps the geometry of the embedding
from drifting: each new grain of a taxon should stay near what the almanac remembers of that taxon.
"""
import random
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn

TAXA = ("tilia", "brassica", "castanea", "robinia")
APIARIES = 3


class Almanac:
    """What was seen of each taxon. Rows go in by name of their columns, as many columns as you like."""

    def __init__(self, *, per_taxon):
        self.per_taxon = per_taxon
        self.pages = defaultdict(list)
        self.rng = random.Random(5)
        self.seen = 0

    def note(self, *taxa, **columns):
        for i, taxon in enumerate(taxa):
            self.seen += 1
            row = {name: column[i] for name, column in columns.items()}
            page = self.pages[taxon]
            if len(page) < self.per_taxon:
                page.append(row)
            elif self.rng.random() < self.per_taxon / self.seen:
                page[self.rng.randrange(self.per_taxon)] = row

    def recall(self, taxon, column):
        page = self.pages.get(taxon)
        if not page:
            return None
        return torch.stack([row[column] for row in page])


class GrainNet(nn.Module):
    def __init__(self, inputs=18, width=32, dim=8):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.GELU(), nn.Linear(width, dim))
        self.key = nn.Linear(dim, len(TAXA))

    def forward(self, grains):
        z = F.normalize(self.body(grains), dim=-1)
        return z, self.key(z)


def grains_of(apiary, shapes, n=24):
    labels = torch.randint(len(TAXA), (n,))
    stain = 0.6 * torch.sin(torch.arange(18.0) * (apiary + 1))
    return shapes[labels] + stain + 0.3 * torch.randn(n, 18), labels


def drift(z, names, almanac):
    pulls = []
    for i, name in enumerate(names):
        remembered = almanac.recall(name, "embedding")
        if remembered is not None:
            pulls.append((1 - remembered @ z[i]).mean())
    return torch.stack(pulls).mean() if pulls else z.new_zeros(())


def main():
    torch.manual_seed(20)
    shapes = torch.randn(len(TAXA), 18)
    net = GrainNet()
    almanac = Almanac(per_taxon=12)
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)

    for apiary in range(APIARIES):
        for slide in range(12):
            grains, labels = grains_of(apiary, shapes)
            names = [TAXA[k] for k in labels.tolist()]
            z, scores = net(grains)
            loss = F.cross_entropy(scores, labels) + 0.4 * drift(z, names, almanac)

            opt.zero_grad()
            loss.backward()
            opt.step()

            almanac.note(*names, embedding=z.detach(), slide=[slide] * len(names))
        hit = (scores.argmax(-1) == labels).float().mean().item()
        print(f"apiary {apiary}: loss {loss.item():.3f}  right {hit:.2f}  noted {almanac.seen}")


if __name__ == "__main__":
    main()
