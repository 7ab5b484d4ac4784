"""Next order of a customer from a stream of orders to a seed merchant. Profiles live in a table, one row a customer.

The first thousand orders take a minute, the second thousand three. retain_graph is there because of the error
about a second backward.
"""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

KINDS, SEASONS, CUSTOMERS = 12, 4, 5


class OrderEncoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.kinds = nn.EmbeddingBag(KINDS, dim, mode="mean")
        self.season = nn.Embedding(SEASONS, dim)

    def forward(self, items, season):
        return torch.tanh(self.kinds(items[None]) + self.season(season[None]))


class ProfileTable:
    """What we know of each customer; a running mixture of the orders."""

    def __init__(self, dim, keep=0.8):
        self.dim, self.keep = dim, keep
        self.rows = {}
        self.orders = {}

    def __getitem__(self, customer):
        if customer not in self.rows:
            self.rows[customer] = torch.zeros(1, self.dim)
        return self.rows[customer]

    def absorb(self, customer, encoded):
        self.rows[customer] = self.keep * self[customer].detach() + (1 - self.keep) * encoded
        self.orders[customer] = self.orders.get(customer, 0) + 1


class Updater:
    def __init__(self, modules, lr):
        self.params = [p for m in modules for p in m.parameters()]
        self.optimizer = torch.optim.Adam(self.params, lr=lr)

    def apply(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.params, 1.0)
        self.optimizer.step()


class Recommender:
    def __init__(self, dim=16, lr=5e-3):
        self.encoder = OrderEncoder(dim)
        self.scorer = nn.Linear(dim, KINDS)
        self.profiles = ProfileTable(dim)
        self.updater = Updater([self.encoder, self.scorer], lr)

    def observe(self, customer, order, season, following):
        self.profiles.absorb(customer, self.encoder(order, season))
        profile = self.profiles[customer]
        wanted = torch.zeros(1, KINDS).index_fill_(1, following, 1.0)
        loss = F.binary_cross_entropy_with_logits(self.scorer(profile), wanted)
        self.updater.apply(loss)
        return loss.item()


def orders(n):
    """Every customer has a few favourites, some of them only in one season."""
    taste = {c: random.sample(range(KINDS), 4) for c in range(CUSTOMERS)}
    for i in range(n):
        customer, season = random.randrange(CUSTOMERS), i // 15 % SEASONS
        liked = [k for k in taste[customer] if (k + season) % 3]
        pick = lambda: torch.tensor(random.sample(liked, min(2, len(liked))) + [random.randrange(KINDS)])
        yield customer, pick(), torch.tensor(season), pick()


if __name__ == "__main__":
    random.seed(8)
    torch.manual_seed(8)
    rec = Recommender()
    mean = 0.0
    for i, event in enumerate(orders(120), 1):
        mean += (rec.observe(*event) - mean) / min(i, 30)
        if i % 30 == 0:
            print(f"order {i:4d}  loss {mean:.4f}  customers {len(rec.profiles.rows)}")
