"""Galleries of bark beetles, told by a net with early exits that learn from its deepest one."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class Recipe:
    species: int = 4
    stages: int = 3
    width: int = 14
    temperature: float = 3.0
    soft: float = 0.7
    steps: int = 25
    lr: float = 0.01


class Stage(nn.Module):
    def __init__(self, n_in, width, species):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, width), nn.ReLU())
        self.exit = nn.Linear(width, species)

    def forward(self, x):
        z = self.body(x)
        return z, self.exit(z)


class ExitNet(nn.Module):
    def __init__(self, measures, recipe):
        super().__init__()
        sizes = [measures] + [recipe.width] * (recipe.stages - 1)
        self.stages = nn.ModuleList(Stage(n, recipe.width, recipe.species) for n in sizes)

    def forward(self, x):
        exits = []
        for stage in self.stages:
            x, logits = stage(x)
            exits.append(logits)
        return exits


def soften(logits, temperature):
    return F.softmax(logits / temperature, dim=1)


def distil(student, teacher, temperature):
    wanted = soften(teacher, temperature)
    told = F.log_softmax(student / temperature, dim=1)
    return F.kl_div(told, wanted, reduction="batchmean") * temperature ** 2


def own_teacher_loss(exits, labels, recipe):
    *shallow, deepest = exits
    teacher = deepest.clone()
    total = F.cross_entropy(deepest, labels)
    for logits in shallow:
        total = total + (1 - recipe.soft) * F.cross_entropy(logits, labels)
        total = total + recipe.soft * distil(logits, teacher, recipe.temperature)
    return total


def galleries(count, recipe):
    label = torch.randint(0, recipe.species, (count,))
    turn = label.float() * 1.5
    x = torch.stack([turn.sin(), turn.cos(), turn.sin() * turn.cos()], 1)
    return torch.cat([x, x ** 2], 1) + 0.3 * torch.randn(count, 6), label


def train(recipe=Recipe()):
    torch.manual_seed(37)
    net = ExitNet(6, recipe)
    opt = torch.optim.Adam(net.parameters(), lr=recipe.lr)
    for step in range(recipe.steps):
        x, label = galleries(40, recipe)
        exits = net(x)
        loss = own_teacher_loss(exits, label, recipe)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 6 == 0:
            right = [(e.argmax(1) == label).float().mean().item() for e in exits]
            print(step, round(loss.item(), 3), [round(r, 2) for r in right])


train()
