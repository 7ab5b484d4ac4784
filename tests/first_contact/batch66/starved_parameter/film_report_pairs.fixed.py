# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = log_temp, scale
"""Align chest films with the impression section of their reports.

Two towers, symmetric InfoNCE, learnable temperature. Small toy corpus so that
the whole thing can be checked on a laptop before it goes on the cluster.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)

VOCAB, FINDINGS, STUDIES, WORDS = 60, 6, 96, 9


def toy_archive():
    finding = torch.randint(FINDINGS, (STUDIES,))
    blobs = torch.randn(FINDINGS, 1, 16, 16)
    films = blobs[finding] + 0.6 * torch.randn(STUDIES, 1, 16, 16)
    phrases = torch.randint(VOCAB, (FINDINGS, WORDS))
    reports = phrases[finding].clone()
    noise = torch.rand(STUDIES, WORDS) < 0.3
    reports[noise] = torch.randint(VOCAB, (int(noise.sum()),))
    return films, reports


class FilmTower(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.GELU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.GELU(),
            nn.Flatten(), nn.Linear(16 * 16, dim),
        )

    def forward(self, film):
        return F.normalize(self.body(film), dim=-1)


class ReportTower(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.words = nn.EmbeddingBag(VOCAB, 32, mode="mean")
        self.head = nn.Linear(32, dim)

    def forward(self, tokens):
        return F.normalize(self.head(self.words(tokens)), dim=-1)


class FilmReportPairs(nn.Module):
    def __init__(self, dim=24, start_temp=0.07):
        super().__init__()
        self.film = FilmTower(dim)
        self.report = ReportTower(dim)
        self.log_temp = nn.Parameter(torch.tensor(math.log(1 / start_temp)))  # expect: place

    def forward(self, film, tokens):
        a, b = self.film(film), self.report(tokens)
        # capped at 100 as in CLIP, otherwise it runs away early on
        scale = self.log_temp.exp().clamp(max=100.0)  # expect: place
        return scale * a @ b.t()  # expect: place


def info_nce(logits):
    target = torch.arange(logits.size(0))
    return 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target))


def fit(model, films, reports, epochs=4, size=24):
    decay, plain = [], []
    for p in model.parameters():
        (decay if p.ndim > 1 else plain).append(p)
    opt = torch.optim.AdamW(
        [{"params": decay, "weight_decay": 1e-2}, {"params": plain, "weight_decay": 0.0}],
        lr=3e-3,
    )
    for epoch in range(epochs):
        seen = 0.0
        for rows in torch.randperm(STUDIES).split(size):
            loss = info_nce(model(films[rows], reports[rows]))
            opt.zero_grad()
            loss.backward()
            opt.step()
            seen += loss.item() * len(rows)
        print(f"epoch {epoch}  nce {seen / STUDIES:.3f}  temperature {(-model.log_temp).exp():.4f}")


if __name__ == "__main__":
    films, reports = toy_archive()
    fit(FilmReportPairs(), films, reports)
