"""Pool based active learning, query batches picked by diversity of the last layer's gradients."""
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Pool:
    x: torch.Tensor
    y: torch.Tensor
    labelled: list = field(default_factory=list)

    @property
    def open(self):
        taken = set(self.labelled)
        return [i for i in range(len(self.x)) if i not in taken]


class Classifier(nn.Module):
    def __init__(self, d_in, d_hidden, n_classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d_in, d_hidden), nn.ReLU(), nn.Linear(d_hidden, d_hidden), nn.ReLU())
        self.last = nn.Linear(d_hidden, n_classes)

    def forward(self, x):
        return self.last(self.body(x))


def train(model, pool, epochs=12, lr=1e-2):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    idx = torch.tensor(pool.labelled)
    for _ in range(epochs):
        opt.zero_grad()
        loss = F.cross_entropy(model(pool.x[idx]), pool.y[idx])
        loss.backward()
        opt.step()
    return loss.item()


def gradient_embeddings(model, pool):
    """One row per open example: gradient of the loss at the model's own guess."""
    model.eval()
    rows = []
    for i in pool.open:
        model.zero_grad(set_to_none=False)
        logits = model(pool.x[i:i + 1])
        guess = logits.argmax(dim=1)
        F.cross_entropy(logits, guess).backward()
        rows.append(model.last.weight.grad.flatten().clone())
    model.train()
    return torch.stack(rows)


def farthest_first(emb, k):
    chosen = [int(emb.norm(dim=1).argmax())]
    dist = (emb - emb[chosen[0]]).norm(dim=1)
    while len(chosen) < k:
        dist[chosen] = -1.0
        nxt = int(dist.argmax())
        chosen.append(nxt)
        dist = torch.minimum(dist, (emb - emb[nxt]).norm(dim=1))
    return chosen


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def blobs(n, centers, gen):
    y = torch.randint(len(centers), (n,), generator=gen)
    return centers[y] + 0.9 * torch.randn(n, centers.shape[1], generator=gen), y


def main(rounds=4, per_round=6):
    torch.manual_seed(5)
    gen = torch.Generator().manual_seed(17)
    centers = 2.0 * torch.randn(5, 8, generator=gen)
    x, y = blobs(90, centers, gen)
    x_test, y_test = blobs(100, centers, gen)
    pool = Pool(x, y, labelled=list(range(6)))
    model = Classifier(8, 24, len(centers))
    for r in range(rounds):
        loss = train(model, pool)
        print(f"round {r}: {len(pool.labelled)} labels, loss {loss:.4f}, test {accuracy(model, x_test, y_test):.3f}")
        candidates = pool.open
        embeddings = gradient_embeddings(model, pool)
        picked = farthest_first(embeddings, per_round)
        pool.labelled += [candidates[i] for i in picked]
    train(model, pool)
    print(f"final test accuracy {accuracy(model, x_test, y_test):.3f}")


if __name__ == "__main__":
    main()
