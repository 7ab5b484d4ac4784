"""Dense retrieval for case law: anchor paragraph, cited decision, uncited decision.
Bag-of-terms tower, triplet margin loss, hard negatives inside the batch."""
from typing import Dict, List

import torch
import torch.nn.functional as F
from torch import nn, Tensor


class Meter:
    """Weighted running mean."""

    def __init__(self) -> None:
        self.sum = 0.0
        self.n = 0

    def update(self, value, n: int = 1) -> None:
        self.sum = self.sum + value * n
        self.n += n

    @property
    def avg(self) -> float:
        return float(self.sum) / max(self.n, 1)


class MeterBook:
    def __init__(self, *names: str) -> None:
        self.meters: Dict[str, Meter] = {k: Meter() for k in names}

    def update(self, n: int, **values) -> None:
        for k, v in values.items():
            self.meters[k].update(v, n)

    def line(self) -> str:
        return "  ".join(f"{k} {m.avg:.4f}" for k, m in self.meters.items())


class Tower(nn.Module):
    def __init__(self, vocab: int, dim: int) -> None:
        super().__init__()
        self.terms = nn.EmbeddingBag(vocab, dim, mode="mean")
        self.proj = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, dim))

    def forward(self, docs: Tensor) -> Tensor:
        bag = self.terms(docs)
        return F.normalize(bag + self.proj(bag), dim=-1)


class CitationSampler:
    def __init__(self, vocab: int, n_areas: int, length: int, seed: int) -> None:
        self.g = torch.Generator().manual_seed(seed)
        self.vocab, self.n_areas, self.length = vocab, n_areas, length

    def _docs(self, area: Tensor) -> Tensor:
        span = self.vocab // self.n_areas
        topical = area[:, None] * span + torch.randint(0, span, (len(area), self.length), generator=self.g)
        common = torch.randint(0, self.vocab, topical.shape, generator=self.g)
        pick = torch.rand(topical.shape, generator=self.g) < 0.5
        return torch.where(pick, topical, common)

    def batch(self, n: int):
        area = torch.randint(0, self.n_areas, (n,), generator=self.g)
        return self._docs(area), self._docs(area), area


def hard_triplet(a: Tensor, p: Tensor, area: Tensor, margin: float) -> Tensor:
    sim = a @ p.t()
    same = area[:, None] == area[None, :]
    hardest = sim.masked_fill(same, -2.0).max(dim=1).values
    return F.relu(margin + hardest - sim.diagonal()).mean()


def train(cfg: Dict) -> List[str]:
    torch.manual_seed(cfg["seed"])
    tower = Tower(cfg["vocab"], cfg["dim"])
    opt = torch.optim.Adam(tower.parameters(), lr=cfg["lr"])
    data = CitationSampler(cfg["vocab"], cfg["areas"], 12, cfg["seed"])
    book = MeterBook("loss", "hit@1")
    lines = []
    for step in range(1, cfg["steps"] + 1):
        anchor, cited, area = data.batch(cfg["batch"])
        a, p = tower(anchor), tower(cited)
        loss = hard_triplet(a, p, area, cfg["margin"])
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            hit = (area[(a @ p.t()).argmax(1)] == area).float().mean()
        book.update(len(area), **{"loss": loss.item(), "hit@1": hit.item()})
        if step % cfg["log_every"] == 0:
            lines.append(f"step {step}  {book.line()}")
            print(lines[-1])
    return lines


if __name__ == "__main__":
    train(dict(vocab=200, dim=24, areas=5, batch=24, lr=4e-3, margin=0.3, steps=80, log_every=20, seed=31))
