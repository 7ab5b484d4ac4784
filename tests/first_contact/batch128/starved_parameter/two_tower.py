# expect: pattern = starved-parameter
# expect: also = detached-loss, unused-parameter
# expect: raises = nothing
# expect: carrier = logit_scale, self.logit_scale, scale
"""Two-tower retrieval: match search queries to products with a symmetric contrastive loss."""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Settings:
    n_pairs: int = 384
    query_dim: int = 40
    product_dim: int = 24
    embed_dim: int = 16
    batch_size: int = 64
    epochs: int = 4
    lr: float = 2e-3
    max_scale: float = 100.0
    seed: int = 19


class Tower(nn.Module):
    def __init__(self, n_in: int, n_out: int, hidden: int = 48):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_in, hidden),
            nn.LayerNorm(hidden),
            nn.GELU(),
            nn.Linear(hidden, n_out),
        )

    def forward(self, x: Tensor) -> Tensor:
        return F.normalize(self.body(x), dim=-1)


class Retriever(nn.Module):
    def __init__(self, s: Settings):
        super().__init__()
        self.queries = Tower(s.query_dim, s.embed_dim)
        self.products = Tower(s.product_dim, s.embed_dim)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.2)))
        self.max_scale = s.max_scale

    def forward(self, q: Tensor, p: Tensor) -> Tensor:
        scale = min(self.logit_scale.exp().item(), self.max_scale)  # expect: place
        return scale * self.queries(q) @ self.products(p).T  # expect: place


def fabricate(s: Settings) -> tuple[Tensor, Tensor]:
    rng = np.random.default_rng(s.seed)
    topic = rng.normal(size=(s.n_pairs, 8))
    q = np.tanh(topic @ rng.normal(size=(8, s.query_dim))) + 0.2 * rng.normal(size=(s.n_pairs, s.query_dim))
    p = topic @ rng.normal(size=(8, s.product_dim)) + 0.2 * rng.normal(size=(s.n_pairs, s.product_dim))
    return torch.from_numpy(q).float(), torch.from_numpy(p).float()


def contrastive(logits: Tensor) -> Tensor:
    gold = torch.arange(len(logits))
    return 0.5 * (F.cross_entropy(logits, gold) + F.cross_entropy(logits.T, gold))


@torch.no_grad()
def recall_at(model: Retriever, q: Tensor, p: Tensor, k: int = 5) -> float:
    model.eval()
    top = model(q, p).topk(k, dim=1).indices
    model.train()
    return (top == torch.arange(len(q)).unsqueeze(1)).any(dim=1).float().mean().item()


def train(s: Settings) -> Retriever:
    torch.manual_seed(s.seed)
    q, p = fabricate(s)
    n_train = s.n_pairs - 64
    model = Retriever(s)
    decay = [w for w in model.parameters() if w.ndim > 1]
    plain = [w for w in model.parameters() if w.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decay, "weight_decay": 0.05}, {"params": plain, "weight_decay": 0.0}], lr=s.lr
    )
    for epoch in range(s.epochs):
        losses = []
        for idx in torch.randperm(n_train).split(s.batch_size):
            loss = contrastive(model(q[idx], p[idx]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        r5 = recall_at(model, q[n_train:], p[n_train:])
        temp = math.exp(-model.logit_scale.item())
        print(f"epoch {epoch}  loss {np.mean(losses):.4f}  recall@5 {r5:.3f}  temperature {temp:.4f}")
    return model


if __name__ == "__main__":
    train(Settings())
