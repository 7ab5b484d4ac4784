# expect: pattern = none
"""Contrastive recipe embeddings with a slow copy of the encoder and a queue of negatives."""
import copy

import torch
import torch.nn.functional as F
from torch import nn


class RecipeQueue:
    def __init__(self, slots, dim):
        self.rows = F.normalize(torch.randn(slots, dim), dim=1)
        self.at = 0

    @torch.no_grad()
    def push(self, keys):
        n = len(keys)
        self.rows[self.at:self.at + n].copy_(keys)
        self.at = (self.at + n) % len(self.rows)

    def negatives(self):
        return self.rows.clone()


class Encoder(nn.Module):
    def __init__(self, vocabulary, dim):
        super().__init__()
        self.words = nn.EmbeddingBag(vocabulary, 32)
        self.norm = nn.LayerNorm(32)
        self.hidden = nn.Linear(32, 32)
        self.out = nn.Linear(32, dim)

    def forward(self, bag):
        h = self.hidden(self.norm(self.words(bag)))
        h += 0.1
        h = F.relu_(h)
        return F.normalize(self.out(h), dim=1)


@torch.no_grad()
def follow(slow, quick, keep=0.95):
    for s, q in zip(slow.parameters(), quick.parameters()):
        s.mul_(keep).add_(q, alpha=1 - keep)


def two_views(recipes):
    words = recipes.shape[1]
    keep = words // 2
    first = torch.stack([row[torch.randperm(words)[:keep]] for row in recipes])
    second = torch.stack([row[torch.randperm(words)[:keep]] for row in recipes])
    return first, second


def main(epochs=8, size=16, heat=0.2):
    torch.manual_seed(81)
    recipes = torch.randint(0, 20, (64, 10)) + 20 * (torch.arange(64) % 5).unsqueeze(1)
    quick = Encoder(100, 12)
    slow = copy.deepcopy(quick).requires_grad_(False)
    queue = RecipeQueue(32, 12)
    opt = torch.optim.Adam(quick.parameters(), lr=5e-3)
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(64).split(size):
            first, second = two_views(recipes[rows])
            query, key = quick(first), slow(second)
            positive = (query * key).sum(1, keepdim=True)
            logits = torch.cat([positive, query @ queue.negatives().t()], dim=1)
            logits /= heat
            loss = F.cross_entropy(logits, torch.zeros(len(rows), dtype=torch.long))
            opt.zero_grad(set_to_none=False)
            loss.backward()
            opt.step()
            follow(slow, quick)
            queue.push(key)
            total += loss.item()
        print(f"epoch {epoch}: contrast {total / (64 // size):.4f}")


if __name__ == "__main__":
    main()
