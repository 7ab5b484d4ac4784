"""Self-supervised pretraining with running cluster prototypes (EMA of the embeddings)."""
import logging
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

LOG = logging.getLogger(__name__)


@dataclass
class PretrainConfig:
    input_dim: int = 20
    embed_dim: int = 16
    num_clusters: int = 4
    momentum: float = 0.9
    temperature: float = 0.2
    steps: int = 12
    batch_size: int = 40
    lr: float = 0.02
    seed: int = 5


class AverageMeter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n

    @property
    def avg(self):
        return self.total / max(self.count, 1)


class Encoder(nn.Module):
    def __init__(self, input_dim, embed_dim):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(input_dim, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.projector = nn.Linear(32, embed_dim)

    def forward(self, x):
        return F.normalize(self.projector(self.backbone(x)), dim=1)


class PrototypeBank:
    """Keeps one running mean embedding a cluster."""

    def __init__(self, num_clusters, embed_dim, momentum):
        self.momentum = momentum
        self.num_clusters = num_clusters
        self.prototypes = F.normalize(torch.randn(num_clusters, embed_dim), dim=1)

    def logits(self, embeddings, temperature):
        return embeddings @ self.prototypes.t() / temperature

    def update(self, embeddings, assignments):
        onehot = F.one_hot(assignments, self.num_clusters).float()
        counts = onehot.sum(0).clamp(min=1).unsqueeze(1)
        means = onehot.t() @ embeddings / counts
        mixed = self.momentum * self.prototypes + (1 - self.momentum) * means
        self.prototypes = F.normalize(mixed, dim=1)


class BlobStream:
    def __init__(self, cfg):
        self.centres = 2 * torch.randn(cfg.num_clusters, cfg.input_dim)
        self.batch_size = cfg.batch_size

    def next_batch(self):
        labels = torch.randint(len(self.centres), (self.batch_size,))
        x = self.centres[labels] + 0.5 * torch.randn(self.batch_size, self.centres.shape[1])
        return x, x + 0.2 * torch.randn_like(x), labels


def pretrain(cfg):
    torch.manual_seed(cfg.seed)
    stream = BlobStream(cfg)
    encoder = Encoder(cfg.input_dim, cfg.embed_dim)
    bank = PrototypeBank(cfg.num_clusters, cfg.embed_dim, cfg.momentum)
    optimizer = torch.optim.SGD(encoder.parameters(), lr=cfg.lr, momentum=0.9)
    meter, start = AverageMeter(), time.time()
    for step in range(cfg.steps):
        view_a, view_b, pseudo = stream.next_batch()
        emb_a, emb_b = encoder(view_a), encoder(view_b)
        loss = F.cross_entropy(bank.logits(emb_a, cfg.temperature), pseudo)
        loss = loss + F.mse_loss(emb_a, emb_b)

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bank.update(emb_a.detach(), pseudo)

        meter.update(loss.item(), len(pseudo))
        if step % 4 == 0:
            LOG.info("step %d loss %.4f (%.2fs)", step, meter.avg, time.time() - start)
    return encoder


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    pretrain(PretrainConfig())
