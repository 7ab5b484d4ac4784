"""Matrix factorisation with BPR on implicit feedback, small trainer with metric logging."""
from __future__ import annotations

import json
import logging
import sys
from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import Dict, Iterator, List, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F

log = logging.getLogger("bpr")
Metrics = Dict[str, torch.Tensor]


@dataclass
class BPRConfig:
    n_users: int = 80
    n_items: int = 120
    dim: int = 16
    lr: float = 0.05
    weight_decay: float = 1e-3
    batch_size: int = 64
    epochs: int = 3
    seed: int = 2021


class Interactions:
    """Users like items of their own taste group; some clicks are random."""

    def __init__(self, cfg: BPRConfig, groups: int = 4) -> None:
        user_group = torch.randint(groups, (cfg.n_users,))
        item_group = torch.randint(groups, (cfg.n_items,))
        affinity = (user_group[:, None] == item_group[None, :]).float() * 0.25 + 0.02
        self.matrix = torch.bernoulli(affinity).bool()
        self.pairs = self.matrix.nonzero()
        self.batch_size = cfg.batch_size

    def __len__(self) -> int:
        return (len(self.pairs) + self.batch_size - 1) // self.batch_size

    def batches(self) -> Iterator[Tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
        order = torch.randperm(len(self.pairs))
        for chunk in order.split(self.batch_size):
            users, positives = self.pairs[chunk].unbind(1)
            negatives = torch.randint(self.matrix.size(1), (len(chunk),))
            yield users, positives, negatives


class MF(nn.Module):
    def __init__(self, cfg: BPRConfig) -> None:
        super().__init__()
        self.user = nn.Embedding(cfg.n_users, cfg.dim)
        self.item = nn.Embedding(cfg.n_items, cfg.dim)
        self.bias = nn.Embedding(cfg.n_items, 1)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)
        nn.init.zeros_(self.bias.weight)

    def score(self, users: torch.Tensor, items: torch.Tensor) -> torch.Tensor:
        return (self.user(users) * self.item(items)).sum(-1) + self.bias(items).squeeze(-1)

    def penalty(self, users: torch.Tensor, *items: torch.Tensor) -> torch.Tensor:
        vectors = [self.user(users)] + [self.item(i) for i in items]
        return sum(v.pow(2).sum(-1).mean() for v in vectors)


class Trainer:
    def __init__(self, cfg: BPRConfig) -> None:
        self.cfg = cfg
        self.data = Interactions(cfg)
        self.model = MF(cfg)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)
        self.history: List[Metrics] = []

    def training_step(self, users, positives, negatives) -> Metrics:
        margin = self.model.score(users, positives) - self.model.score(users, negatives)
        bpr = -F.logsigmoid(margin).mean()
        l2 = self.model.penalty(users, positives, negatives)
        loss = bpr + self.cfg.weight_decay * l2
        auc = (margin > 0).float().mean()
        return {"loss": loss, "bpr": bpr, "l2": l2, "auc": auc}

    def run_epoch(self) -> Metrics:
        self.model.train()
        running: Metrics = defaultdict(lambda: torch.zeros(()))
        for batch in self.data.batches():
            metrics = self.training_step(*batch)
            self.optimizer.zero_grad(set_to_none=True)
            metrics["loss"].backward()
            self.optimizer.step()
            for name, value in metrics.items():
                running[name] = running[name] + value.detach()
        return {name: value / len(self.data) for name, value in running.items()}

    @torch.no_grad()
    def hit_rate(self, k: int = 10) -> float:
        self.model.eval()
        scores = self.model.user.weight @ self.model.item.weight.t() + self.model.bias.weight.t()
        top = scores.topk(k, dim=1).indices
        return self.data.matrix.gather(1, top).float().mean().item()

    def fit(self) -> List[Metrics]:
        for epoch in range(self.cfg.epochs):
            summary = self.run_epoch()
            self.history.append(summary)
            shown = " ".join(f"{k}={float(v):.4f}" for k, v in summary.items())
            log.info("epoch %d | %s | hit@10 %.3f", epoch, shown, self.hit_rate())
        return self.history


def main() -> int:
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    cfg = BPRConfig()
    torch.manual_seed(cfg.seed)
    log.info(json.dumps(asdict(cfg)))
    history = Trainer(cfg).fit()
    best = min(range(len(history)), key=lambda e: float(history[e]["loss"]))
    log.info("lowest loss in epoch %d", best)
    return 0


if __name__ == "__main__":
    sys.exit(main())
