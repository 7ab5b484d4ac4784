"""Successor features for a picking robot between the rows of an orchard.

phi is learnt from the fruit that is found, psi from what the robot will see next (TD).
"""
import random
from collections import deque, namedtuple

import torch
from torch import nn
from torch.nn import functional as F

Move = namedtuple("Move", "here turn fruit there")


class Orchard:
    """Rows and gaps; fruit hangs in some places and grows again."""

    TURNS = ((0, 1), (1, 0), (0, -1), (-1, 0))

    def __init__(self, rows=5, gaps=6, seed=0):
        self.rows, self.gaps = rows, gaps
        rng = random.Random(seed)
        self.ripe = {(rng.randrange(rows), rng.randrange(gaps)) for _ in range(8)}
        self.place = (0, 0)

    def view(self):
        r, g = self.place
        near = [float((r + dr, g + dg) in self.ripe) for dr, dg in self.TURNS]
        return torch.tensor([r / self.rows, g / self.gaps, *near])

    def go(self, turn):
        dr, dg = self.TURNS[turn]
        self.place = ((self.place[0] + dr) % self.rows, (self.place[1] + dg) % self.gaps)
        return float(self.place in self.ripe)


class Picker(nn.Module):
    def __init__(self, view=6, turns=4, width=12):
        super().__init__()
        self.turns, self.width = turns, width
        self.phi = nn.Sequential(nn.Linear(view, 32), nn.ReLU(), nn.Linear(32, width))
        self.psi = nn.Sequential(nn.Linear(view, 48), nn.ReLU(), nn.Linear(48, turns * width))
        self.taste = nn.Linear(width, 1, bias=False)

    def follow(self, view):
        return self.psi(view).view(-1, self.turns, self.width)

    def value(self, psi):
        return self.taste(psi).squeeze(-1)


def collate(moves):
    here, turn, fruit, there = zip(*moves)
    return (torch.stack(here), torch.tensor(turn), torch.tensor(fruit), torch.stack(there))


def losses(picker, batch, discount):
    here, turn, fruit, there = batch
    rows = torch.arange(len(turn))
    phi = picker.phi(there)
    found = F.mse_loss(picker.taste(phi).squeeze(1), fruit)

    psi = picker.follow(here)[rows, turn]
    psi_next = picker.follow(there)
    best = picker.value(psi_next).argmax(1)
    target = phi.detach() + discount * psi_next[rows, best].detach()
    return found, F.mse_loss(psi, target)


def run(steps=200, warm=40, discount=0.9, explore=0.3):
    torch.manual_seed(14)
    dice = random.Random(14)
    orchard, picker = Orchard(seed=6), Picker()
    optimizer = torch.optim.Adam(picker.parameters(), lr=2e-3)
    memory = deque(maxlen=500)
    here = orchard.view()
    for step in range(steps):
        with torch.no_grad():
            q = picker.value(picker.follow(here[None]))[0]
        turn = dice.randrange(4) if dice.random() < explore else int(q.argmax())
        fruit = orchard.go(turn)
        there = orchard.view()
        memory.append(Move(here, turn, fruit, there))
        here = there
        if step < warm:
            continue
        batch = collate(dice.sample(list(memory), 24))
        found, successor = losses(picker, batch, discount)
        optimizer.zero_grad()
        (found + successor).backward()
        optimizer.step()
        if step % 40 == 39:
            print(f"{step + 1}: fruit {found.item():.3f}  successor {successor.item():.4f}")


if __name__ == "__main__":
    run()
