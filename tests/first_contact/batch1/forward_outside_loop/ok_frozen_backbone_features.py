"""Linear probe: features of a frozen backbone are computed once, the head is trained on them."""
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class ProbeConfig:
    epochs: int = 25
    lr: float = 0.05
    weight_decay: float = 1e-3
    seed: int = 12


def backbone():
    net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
    return net.eval().requires_grad_(False)


def main(cfg: ProbeConfig):
    torch.manual_seed(cfg.seed)
    net, head = backbone(), nn.Linear(32, 2)
    x = torch.randn(120, 4)
    y = ((x[:, 0] * x[:, 1]) > 0).long()

    feats = net(x)                      # no parameter of it requires grad: a constant
    mean, std = feats.mean(0), feats.std(0) + 1e-6
    feats = (feats - mean) / std

    opt = torch.optim.SGD(head.parameters(), lr=cfg.lr, momentum=0.9, weight_decay=cfg.weight_decay)
    history = []
    for _ in range(cfg.epochs):
        loss = nn.functional.cross_entropy(head(feats), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        history.append(loss.item())
    acc = (head(feats).argmax(1) == y).float().mean().item()
    print(f"loss {history[0]:.3f} -> {history[-1]:.3f}, accuracy {acc:.2f}")


main(ProbeConfig())
