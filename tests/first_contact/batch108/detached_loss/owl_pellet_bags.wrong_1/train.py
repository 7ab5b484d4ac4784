"""Did the owl eat a vole? Multiple-instance learning over pellets."""
import random

import torch
import torch.nn.functional as F

from attention import PelletNet
from pellets import collection

BATCH = 16


def batches(data, rng):
    order = list(data)
    rng.shuffle(order)
    for start in range(0, len(order), BATCH):
        yield order[start:start + BATCH]


def score_all(net, batch):
    """Pellets differ in size, so they go through the net one after the other."""
    scores, entropies = [], []
    for bones, _ in batch:
        score, weights = net(bones)
        scores.append(score)
        entropies.append(-(weights * weights.clamp(min=1e-8).log()).sum().item())
    return torch.tensor(scores, requires_grad=True), sum(entropies) / len(entropies)


def evaluate(net, data):
    net.eval()
    scores, _ = score_all(net, data)
    labels = torch.tensor([vole for _, vole in data])
    net.train()
    return ((scores > 0).float() == labels).float().mean().item()


def main():
    torch.manual_seed(40)
    rng = random.Random(40)
    train, test = collection(160, 1), collection(80, 2)
    net = PelletNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3, weight_decay=1e-4)
    for epoch in range(5):
        running, spread = 0.0, 0.0
        for batch in batches(train, rng):
            labels = torch.tensor([vole for _, vole in batch])
            logits, entropy = score_all(net, batch)
            loss = F.binary_cross_entropy_with_logits(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item() * len(batch) / len(train)
            spread = 0.9 * spread + 0.1 * entropy
        print(f"epoch {epoch} loss {running:.4f} attention entropy {spread:.2f} "
              f"held-out {evaluate(net, test):.1%}")


if __name__ == "__main__":
    main()
