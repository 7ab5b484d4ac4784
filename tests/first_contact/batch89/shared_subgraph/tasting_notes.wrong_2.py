"""Labels of beers and what the tasters wrote: two encoders that meet in one space."""
from dataclasses import dataclass
from typing import Dict, List

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Settings:
    beers: int = 120
    styles: int = 8
    vocabulary: int = 60
    words: int = 7
    width: int = 16
    batch: int = 20
    epochs: int = 4
    lr: float = 3e-3


class Cellar:
    """A beer has a style; its label shows it in colours and its notes in words."""

    def __init__(self, s: Settings):
        style = torch.randint(0, s.styles, (s.beers,))
        own = torch.randn(s.beers, 4)
        self.labels = torch.cat([F.one_hot(style, s.styles).float(), own], 1) @ torch.randn(s.styles + 4, 18)
        pull = torch.randn(s.styles + 4, s.vocabulary)
        odds = torch.cat([2 * F.one_hot(style, s.styles).float(), own], 1) @ pull
        self.notes = torch.multinomial(odds.softmax(-1), s.words, replacement=False)

    def __len__(self) -> int:
        return len(self.labels)


class Towers(nn.Module):
    def __init__(self, s: Settings):
        super().__init__()
        self.label = nn.Sequential(nn.Linear(18, 32), nn.ReLU(), nn.Linear(32, s.width))
        self.note = nn.EmbeddingBag(s.vocabulary, s.width, mode="mean")
        self.polish = nn.Linear(s.width, s.width)
        self.sharpness = nn.Parameter(torch.tensor(2.0))

    def forward(self, labels: torch.Tensor, notes: torch.Tensor) -> torch.Tensor:
        left = F.normalize(self.label(labels), dim=-1)
        right = F.normalize(self.polish(self.note(notes)), dim=-1)
        return self.sharpness.exp() * left @ right.t()


def both_ways(logits: torch.Tensor) -> Dict[str, torch.Tensor]:
    pairs = torch.arange(len(logits))
    return {
        "to_note": F.cross_entropy(logits, pairs),
        "to_label": F.cross_entropy(logits.t(), pairs),
    }


def gradient_norm(model: nn.Module) -> float:
    return sum(float(p.grad.norm()) ** 2 for p in model.parameters() if p.grad is not None) ** 0.5


def recall_at(model: Towers, cellar: Cellar, k: int = 5) -> float:
    with torch.no_grad():
        ranks = model(cellar.labels, cellar.notes).topk(k, dim=-1).indices
    return (ranks == torch.arange(len(cellar))[:, None]).any(-1).float().mean().item()


def fit(s: Settings) -> Towers:
    cellar, model = Cellar(s), Towers(s)
    optimizer = torch.optim.Adam(model.parameters(), lr=s.lr)
    for epoch in range(s.epochs):
        ledger: Dict[str, List[float]] = {"to_note": [], "to_label": [], "norm": []}
        for rows in torch.randperm(len(cellar)).split(s.batch):
            logits = model(cellar.labels[rows], cellar.notes[rows])
            losses = both_ways(logits)
            optimizer.zero_grad()
            for name, loss in losses.items():
                loss.backward(retain_graph=True)
                optimizer.step()
                ledger[name].append(loss.item())
            ledger["norm"].append(gradient_norm(model))
        means = {name: round(sum(kept) / len(kept), 3) for name, kept in ledger.items()}
        print(epoch, means, "recall@5", round(recall_at(model, cellar), 3))
    return model


if __name__ == "__main__":
    torch.manual_seed(31)
    fit(Settings())
