"""
Fraudulent hail damage claims. A third of the training labels is wrong, 40 claims have been checked by hand (meta set).
A little net gives every training claim a weight; it learns from the loss of the checked claims after a virtual step.
"""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call


@dataclass
class Config:
    lr: float = 0.1
    meta_lr: float = 1e-2
    batch_size: int = 50
    max_epoch: int = 4
    seed: int = 21


class ClaimNet(nn.Module):
    def __init__(self, n_in=10, hidden=24, with_aux=True):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.fc = nn.Linear(hidden, 2)
        self.aux = nn.Linear(hidden, 1) if with_aux else None

    def forward(self, x, return_severity=False):
        h = self.body(x)
        if return_severity:
            return self.fc(h), self.aux(h).squeeze(1)
        return self.fc(h)


class VNet(nn.Module):
    def __init__(self, hidden=20):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, hidden), nn.ReLU(), nn.Linear(hidden, 1), nn.Sigmoid())

    def forward(self, loss):
        return self.net(loss)


def claims(n, noise):
    x = torch.randn(n, 10)
    y = (x[:, 0] * x[:, 1] + x[:, 2] > 0).long()
    flip = torch.rand(n) < noise
    severity = x[:, 3:6].abs().sum(1)
    return x, torch.where(flip, 1 - y, y), severity


def meta_weights(net, vnet, optimizer_meta, x, y, meta_x, meta_y, lr):
    pseudo_net = {k: v.detach().clone().requires_grad_() for k, v in net.named_parameters()
                  if not k.startswith("aux.")}
    cost = F.cross_entropy(functional_call(net, pseudo_net, (x,)), y, reduction="none")
    w = vnet(cost.detach().unsqueeze(1)).squeeze(1)
    pseudo_loss = (cost * w).mean()
    pseudo_grads = torch.autograd.grad(pseudo_loss, list(pseudo_net.values()), create_graph=True)
    stepped = {k: p - lr * g for (k, p), g in zip(pseudo_net.items(), pseudo_grads)}

    meta_loss = F.cross_entropy(functional_call(net, stepped, (meta_x,)), meta_y)
    optimizer_meta.zero_grad()
    meta_loss.backward()
    optimizer_meta.step()
    with torch.no_grad():
        return vnet(cost.unsqueeze(1)).squeeze(1), meta_loss.item()


def run(cfg):
    torch.manual_seed(cfg.seed)
    x, y, severity = claims(200, noise=0.33)
    meta_x, meta_y, _ = claims(40, noise=0.0)
    net, vnet = ClaimNet(), VNet()
    optimizer = torch.optim.SGD(net.parameters(), lr=cfg.lr, momentum=0.9)
    optimizer_meta = torch.optim.Adam(vnet.parameters(), lr=cfg.meta_lr)
    for epoch in range(cfg.max_epoch):
        for idx in torch.randperm(len(x)).split(cfg.batch_size):
            weight, meta_loss = meta_weights(net, vnet, optimizer_meta, x[idx], y[idx], meta_x, meta_y, cfg.lr)
            logits, sev = net(x[idx], return_severity=True)
            loss = (weight * F.cross_entropy(logits, y[idx], reduction="none")).mean()
            loss = loss + 0.1 * F.mse_loss(sev, severity[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} train {loss.item():.4f} meta {meta_loss:.4f} mean weight {weight.mean():.3f}")


run(Config())
