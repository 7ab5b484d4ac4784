"""Properties of solvents from their graphs; conflicting gradients of tasks are projected apart."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

HEADS = {}


def head(name):
    def register(cls):
        HEADS[name] = cls
        return cls
    return register


@head("boiling")
class Boiling(nn.Linear):
    def __init__(self, width):
        super().__init__(width, 1)

    def loss(self, z, target):
        return F.mse_loss(self(z).squeeze(1), target)


@head("miscible")
class Miscible(nn.Linear):
    def __init__(self, width):
        super().__init__(width, 1)

    def loss(self, z, target):
        return F.binary_cross_entropy_with_logits(self(z).squeeze(1), (target > 0).float())


@dataclass
class Molecules:
    atoms: torch.Tensor
    bonds: torch.Tensor
    targets: dict


class Passing(nn.Module):
    def __init__(self, n_atom, width, rounds=2):
        super().__init__()
        self.embed = nn.Linear(n_atom, width)
        self.message = nn.ModuleList(nn.Linear(width, width) for _ in range(rounds))

    def forward(self, atoms, bonds):
        h = self.embed(atoms)
        for layer in self.message:
            h = h + torch.tanh(layer(bonds @ h))
        return h.mean(dim=1)


class Surgeon:
    """Takes each task's gradient by itself and removes what points against another's."""

    def __init__(self, optimizer, parameters):
        self.optimizer, self.parameters = optimizer, list(parameters)

    def gradients(self, losses):
        rows = []
        for loss in losses:
            self.optimizer.zero_grad()
            loss.backward(retain_graph=loss is not losses[-1])
            rows.append(torch.cat([
                torch.zeros(p.numel()) if p.grad is None else p.grad.flatten()
                for p in self.parameters
            ]))
        return torch.stack(rows)

    def step(self, losses):
        rows = self.gradients(losses)
        kept = rows.clone()
        for i in range(len(rows)):
            for j in range(len(rows)):
                dot = kept[i] @ rows[j]
                if i != j and dot < 0:
                    kept[i] -= dot / rows[j].pow(2).sum().clamp(min=1e-8) * rows[j]
        sizes = [p.numel() for p in self.parameters]
        for p, g in zip(self.parameters, kept.sum(0).split(sizes)):
            p.grad = g.view_as(p).clone()
        self.optimizer.step()


def sample(n, generator):
    atoms = torch.randn(n, 7, 5, generator=generator)
    bonds = (torch.rand(n, 7, 7, generator=generator) < 0.3).float()
    bonds = (bonds + bonds.transpose(1, 2)).clamp(max=1) / 3
    signal = (bonds @ atoms).mean(dim=(1, 2)) * 4 + atoms[..., 0].mean(dim=1)
    return Molecules(atoms, bonds, {"boiling": signal, "miscible": -signal + 0.2})


torch.manual_seed(8)
batch = sample(40, torch.Generator().manual_seed(8))
encoder = Passing(5, 16)
heads = nn.ModuleDict({name: cls(16) for name, cls in HEADS.items()})
everything = [*encoder.parameters(), *heads.parameters()]
surgeon = Surgeon(torch.optim.Adam(everything, lr=5e-3), everything)
for step in range(25):
    z = encoder(batch.atoms, batch.bonds)
    losses = [h.loss(z, batch.targets[name]) for name, h in heads.items()]
    surgeon.step(losses)
    if step % 8 == 0:
        print(step, [round(loss.item(), 4) for loss in losses])
