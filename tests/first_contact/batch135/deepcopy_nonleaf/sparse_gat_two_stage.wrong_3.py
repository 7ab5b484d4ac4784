"""Gated graph network for molecular property prediction: pre-training with a
sparsity term on the edge gates, then fine-tuning of the best pre-trained model."""
import copy
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    seed: int = 3
    n_atoms: int = 7
    in_dim: int = 6
    hidden: int = 16
    layers: int = 2
    batch_size: int = 8
    pretrain_epochs: int = 3
    finetune_epochs: int = 2
    batches: int = 3
    lr: float = 1e-1
    finetune_lr: float = 1e-2
    sparsity: float = 5e-2


class GatedConv(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gate = nn.Linear(2 * dim, 1)
        self.message = nn.Linear(dim, dim)
        self.update = nn.GRUCell(dim, dim)
        self.edge_gate = None

    def forward(self, h, adj):
        b, n, d = h.shape
        pair = torch.cat([h.unsqueeze(2).expand(b, n, n, d), h.unsqueeze(1).expand(b, n, n, d)], dim=-1)
        self.edge_gate = torch.sigmoid(self.gate(pair)).squeeze(-1) * adj
        msg = self.edge_gate @ self.message(h)
        return self.update(msg.reshape(-1, d), h.reshape(-1, d)).view(b, n, d)


class MoleculeNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Linear(cfg.in_dim, cfg.hidden)
        self.convs = nn.ModuleList(GatedConv(cfg.hidden) for _ in range(cfg.layers))
        self.readout = nn.Sequential(nn.Linear(cfg.hidden, cfg.hidden), nn.SiLU(), nn.Linear(cfg.hidden, 1))

    def forward(self, x, adj):
        h = self.embed(x)
        for conv in self.convs:
            h = conv(h, adj)
        return self.readout(h.sum(1)).squeeze(-1)

    def gate_penalty(self):
        return torch.stack([conv.edge_gate.sum((1, 2)).mean() for conv in self.convs]).mean()


class MoleculeSampler:
    """Random graphs whose label is a function of degree and atom type."""

    def __init__(self, cfg, seed):
        self.cfg = cfg
        self.generator = torch.Generator().manual_seed(seed)
        self.charge = torch.randn(cfg.in_dim, generator=self.generator)

    def batch(self, shift=0.0):
        cfg = self.cfg
        kind = torch.randint(0, cfg.in_dim, (cfg.batch_size, cfg.n_atoms), generator=self.generator)
        adj = (torch.rand(cfg.batch_size, cfg.n_atoms, cfg.n_atoms, generator=self.generator) < 0.4).float()
        adj = torch.triu(adj, 1)
        adj = adj + adj.transpose(1, 2)
        charge = self.charge[kind]
        target = torch.tanh((charge * adj.sum(-1)).mean(-1) + shift)
        return F.one_hot(kind, cfg.in_dim).float(), adj, target


class BestModel:
    def __init__(self):
        self.score = float("inf")
        self.model = None

    def offer(self, model, score):
        if score < self.score:
            self.score = score
            self.model = model


def run_epoch(model, optimizer, sampler, cfg, shift=0.0):
    running = 0.0
    for _ in range(cfg.batches):
        x, adj, y = sampler.batch(shift)
        loss = F.mse_loss(model(x, adj), y) + cfg.sparsity * model.gate_penalty()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        running += loss.item()
    return running / cfg.batches


def pretrain(model, sampler, cfg):
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 3)
    best = BestModel()
    for epoch in range(cfg.pretrain_epochs):
        train_loss = run_epoch(model, optimizer, sampler, cfg)
        scheduler.step()
        print(f"pretrain {epoch} loss {train_loss:.4f} lr {scheduler.get_last_lr()[0]:.4f}")
        best.offer(model, train_loss)
    return best


def finetune(model, sampler, cfg):
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.finetune_lr, momentum=0.9)
    for epoch in range(cfg.finetune_epochs):
        print(f"finetune {epoch} {run_epoch(model, optimizer, sampler, cfg, shift=0.3):.4f}")


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    sampler = MoleculeSampler(cfg, seed=cfg.seed)
    model = MoleculeNet(cfg)
    best = pretrain(model, sampler, cfg)
    print(f"best {best.score:.4f}")
    finetune(best.model, MoleculeSampler(cfg, seed=cfg.seed + 1), cfg)


if __name__ == "__main__":
    main()
