# expect: pattern = starved-parameter
# expect: also = unused-parameter
# expect: raises = nothing
# expect: carrier = optimizer, head, net, widen, parameters
"""Yeast strains from MALDI-TOF spectra. The brewery's collection grows, and the net with it.

Strains come in deliveries. Old spectra stay at hand, so each delivery is trained on all so far.
"""
import torch
import torch.nn.functional as F

from net import StrainNet
from spectra import Collection

DELIVERIES = (4, 4, 3)


def train_delivery(net, optimizer, spectra, strains, epochs, batch=32):
    net.train()
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(spectra)).split(batch):
            logits = net(spectra[rows])
            loss = F.cross_entropy(logits, strains[rows], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()  # expect: place
            total += loss.item() * len(rows)
    return total / len(spectra)


@torch.no_grad()
def right(net, collection, known):
    net.eval()
    out = []
    for strain in range(known):
        guess = net(collection.measure([strain], 12)[0]).argmax(1)
        out.append((guess == strain).float().mean().item())
    return out


def main():
    torch.manual_seed(303)
    collection = Collection(sum(DELIVERIES), seed=303)
    net = StrainNet(collection.bins, DELIVERIES[0])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)  # expect: place
    known, kept = 0, []
    for number, count in enumerate(DELIVERIES):
        if number:
            net.widen(count)  # expect: place
        fresh = list(range(known, known + count))
        known += count
        kept.append(collection.measure(fresh, 30))
        spectra, strains = (torch.cat(parts) for parts in zip(*kept))
        loss = train_delivery(net, optimizer, spectra, strains, epochs=8)  # expect: place
        hits = right(net, collection, known)
        print(f"delivery {number}: {known} strains, loss {loss:.3f}, right {sum(hits) / known:.3f}, "
              f"worst {min(hits):.2f}")


if __name__ == "__main__":
    main()
